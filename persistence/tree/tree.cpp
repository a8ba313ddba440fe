#include "persistence/tree/tree.hpp"

namespace troupe::persistence {

namespace {

struct scan_range {
  std::string_view prefix;
  std::string_view start;
  bool skip_start;  // `start` itself is excluded
  void* context;
  tree_root::visitor visit;
};

bool scan_leaf(const leaf_node& leaf, const scan_range& range, bool from_start) {
  std::size_t i = 0;
  if (from_start) {
    i = position(leaf, range.start);
    if (range.skip_start && i < leaf.size && leaf.items[i]->key() == range.start) ++i;
  }
  if (i >= leaf.size) return true;
  // Keys are ordered: if the last one has the prefix, so have all from here on.
  const bool all = leaf.items[leaf.size - 1]->key().starts_with(range.prefix);
  for (; i < leaf.size; ++i) {
    const entry& found = *leaf.items[i];
    if (!all && !found.key().starts_with(range.prefix)) return false;
    if (!range.visit(range.context, found)) return false;
  }
  return true;
}

bool scan_below(const node& n, const scan_range& range, bool from_start) {
  if (n.is_leaf) return scan_leaf(as_leaf(n), range, from_start);
  const auto& inner = as_inner(n);
  std::size_t i = from_start ? position(inner, range.start) : 0;
  for (; i < inner.size; ++i, from_start = false)
    if (!scan_below(*inner.items[i].child, range, from_start)) return false;
  return true;
}

}  // namespace

std::shared_ptr<const tree_root> tree_root::empty(revision at) {
  return std::make_shared<const tree_root>(ref<node>{new leaf_node{0}}, at, tree_bytes{});
}

const entry* tree_root::find(std::string_view key) const {
  return find_entry(*top_, key);
}

std::size_t tree_root::count(std::string_view prefix) const {
  return count_prefix(*top_, prefix);
}

void tree_root::scan(std::string_view prefix, std::string_view after, void* context,
                     visitor visit) const {
  const bool resume = after >= prefix && !after.empty();
  scan_below(*top_, {prefix, resume ? after : prefix, resume, context, visit}, true);
}

}  // namespace troupe::persistence

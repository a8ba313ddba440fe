// Supervisors and their children, depth first; the first few of many, and their
// number.
#include <algorithm>
#include <map>

#include "server/console/views/views.hpp"

namespace troupe::server {
namespace {

struct family_member {
  std::vector<std::uint64_t> shown;  // the first children
  std::size_t children = 0;
};

class tree_writer {
 public:
  tree_writer(const console_context& context, std::size_t depth_limit)
      : context_{context}, depth_limit_{depth_limit} {
    context.actors().each([&](const runtime::actor_info& each) {
      auto& family = families_[each.parent];
      ++family.children;
      auto& shown = family.shown;
      if (shown.size() < defaults::tree_children) {
        shown.push_back(each.id);
        std::push_heap(shown.begin(), shown.end());
      } else if (each.id < shown.front()) {
        std::pop_heap(shown.begin(), shown.end());
        shown.back() = each.id;
        std::push_heap(shown.begin(), shown.end());
      }
    });
  }

  void write_children(std::uint64_t parent, std::size_t depth) {
    const auto found = families_.find(parent);
    if (found == families_.end() || depth > depth_limit_) return;
    auto& family = found->second;
    std::sort(family.shown.begin(), family.shown.end());
    for (const auto id : family.shown)
      write(id, depth);
    if (family.children > family.shown.size() && rows_ < defaults::tree_rows) {
      row(depth, "… and " + std::to_string(family.children - family.shown.size()) + " more", {}, 0);
    }
  }

  void write(std::uint64_t id, std::size_t depth) {
    if (rows_ >= defaults::tree_rows) return;
    const auto info = context_.actors().find(id);
    if (!info) return;
    const auto family = families_.find(id);
    row(depth, full_name(*info), *info, family == families_.end() ? 0 : family->second.children);
    write_children(id, depth + 1);
  }

  // The joined nodes, whose trees are requested by name.
  void write_links(const std::vector<node_link>& links) {
    for (const auto& each : links)
      if (rows_ < defaults::tree_rows)
        row(0, "node/" + each.node + (each.connected ? ": --node shows it" : ": no link"), {}, 0);
  }

  json_writer out;

 private:
  void row(std::size_t depth, const std::string& name, const runtime::actor_info& info,
           std::size_t children) {
    ++rows_;
    out.begin_object()
        .member("depth", depth)
        .member("actor", name)
        .member("children", children)
        .member("mailbox", info.mailbox)
        .member("handled", info.handled)
        .member("busySeconds", info.busy)
        .member("restarts", info.restarts)
        .member("id", info.id)
        .end_object();
  }

  const console_context& context_;
  const std::size_t depth_limit_;
  std::map<std::uint64_t, family_member> families_;
  std::size_t rows_ = 0;
};

}  // namespace

view_result show_tree(const console_context& context, const query_string& query) {
  const auto depth = number_of(query, "depth", 3, 20);
  if (!depth) return api::fail(depth.error());
  const auto root = query.get_or("root", "");
  tree_writer tree{context, *depth};
  tree.out.begin_array();
  if (root.empty()) {
    tree.write_children(0, 0);
    if (context.others) tree.write_links(context.others->links());
  } else {
    const auto found = find_actor(context, root);
    if (!found) return api::fail(found.error());
    tree.write(found->id, 0);
  }
  tree.out.end_array();
  return view_answer{tree.out};
}

}  // namespace troupe::server

#include <algorithm>
#include <atomic>

#include "persistence/tree/tree.hpp"

namespace troupe::persistence {

namespace {

// Identifies the edit that may change a node in place; 0 is none.
std::uint64_t next_token() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

template <class Node>
void insert_at(Node& n, std::size_t at, typename Node::item item) {
  auto first = n.items.begin();
  std::move_backward(first + at, first + n.size, first + n.size + 1);
  n.items[at] = std::move(item);
  ++n.size;
}

template <class Node>
void remove_at(Node& n, std::size_t at) {
  auto first = n.items.begin();
  std::move(first + at + 1, first + n.size, first + at);
  n.items[--n.size] = {};
}

// Moves the last `count` items of `left` in front of those of `right`.
template <class Node>
void move_right(Node& left, Node& right, std::size_t count) {
  auto to = right.items.begin();
  std::move_backward(to, to + right.size, to + right.size + count);
  auto from = left.items.begin() + (left.size - count);
  std::move(from, from + count, to);
  left.size -= count;
  right.size += count;
}

// Moves the first `count` items of `right` behind those of `left`.
template <class Node>
void move_left(Node& left, Node& right, std::size_t count) {
  auto from = right.items.begin();
  std::move(from, from + count, left.items.begin() + left.size);
  std::move(from + count, from + right.size, from);
  left.size += count;
  right.size -= count;
}

template <class Node>
void merge_or_share(Node& left, Node& right) {
  const std::size_t sum = left.size + right.size;
  if (sum <= node::capacity)
    move_left(left, right, right.size);
  else if (left.size > sum / 2)
    move_right(left, right, left.size - sum / 2);
  else
    move_left(left, right, sum / 2 - left.size);
}

// The bound must not keep the object of its key alive.
ref<const entry> bound_of(const leaf_node& n) {
  return entry::make(n.items[0]->key(), nullptr, 0);
}

}  // namespace

tree_edit::tree_edit(const tree_root& from)
    : top_{from.top()}, token_{next_token()}, bytes_{from.bytes()} {}

const entry* tree_edit::find(std::string_view key) const {
  return find_entry(*top_, key);
}

std::shared_ptr<const tree_root> tree_edit::freeze(revision at) {
  token_ = next_token();
  return std::make_shared<const tree_root>(top_, at, bytes_);
}

node& tree_edit::own(ref<node>& slot) const {
  if (slot->owner != token_) {
    node* copy = slot->is_leaf ? static_cast<node*>(new leaf_node{as_leaf(*slot), token_})
                               : static_cast<node*>(new inner_node{as_inner(*slot), token_});
    slot = ref<node>{copy};
  }
  return *slot;
}

void tree_edit::put(std::string_view key, api::object_ptr object, revision created,
                    std::uint32_t stored_bytes) {
  const auto& kind = object->kind();
  if (!kind.options().compact())
    return put(entry::make(key, std::move(object), created, stored_bytes));
  put(key, stored_object{&kind, object->revision(), api::to_storage(kind, object->content())},
      created);
}

void tree_edit::put(std::string_view key, const stored_object& object, revision created) {
  put(entry::make(key, object, created));
}

void tree_edit::put(const ref<const entry>& next) {
  bytes_.add(*next);
  auto result = put_below(top_, next);
  if (!result.right) return;
  auto* grown = new inner_node{token_};
  const auto left_count = count_of(*top_), right_count = count_of(*result.right);
  grown->items[0] = {std::move(top_), {}, left_count};
  grown->items[1] = {std::move(result.right), std::move(result.low), right_count};
  grown->size = 2;
  top_ = ref<node>{grown};
}

tree_edit::put_result tree_edit::put_below(ref<node>& slot, const ref<const entry>& next) {
  node& n = own(slot);
  return n.is_leaf ? put_in_leaf(as_leaf(n), next) : put_in_inner(as_inner(n), next);
}

tree_edit::put_result tree_edit::put_in_leaf(leaf_node& n, const ref<const entry>& next) {
  const auto at = position(n, next->key());
  if (at < n.size && n.items[at]->key() == next->key()) {
    bytes_.subtract(*n.items[at]);
    n.items[at] = next;
    return {};
  }
  if (n.size < node::capacity) {
    insert_at(n, at, next);
    return {{}, {}, true};
  }
  auto* right = new leaf_node{token_};
  ref<node> kept{right};
  // Ascending inserts leave full nodes, others half-full ones.
  if (at == n.size) {
    insert_at(*right, 0, next);
  } else {
    move_right(n, *right, node::capacity / 2);
    if (at > n.size)
      insert_at(*right, at - n.size, next);
    else
      insert_at(n, at, next);
  }
  return {std::move(kept), bound_of(*right), true};
}

tree_edit::put_result tree_edit::put_in_inner(inner_node& n, const ref<const entry>& next) {
  const auto at = position(n, next->key());
  auto below = put_below(n.items[at].child, next);
  if (!below.right) {
    if (below.added) ++n.items[at].count;
    return {{}, {}, below.added};
  }
  n.items[at].count = count_of(*n.items[at].child);
  const auto right_count = count_of(*below.right);
  branch grown{std::move(below.right), std::move(below.low), right_count};
  if (n.size < node::capacity) {
    insert_at(n, at + 1, std::move(grown));
    return {{}, {}, true};
  }
  auto* right = new inner_node{token_};
  ref<node> kept{right};
  move_right(n, *right, node::capacity / 2);
  if (at + 1 > n.size)
    insert_at(*right, at + 1 - n.size, std::move(grown));
  else
    insert_at(n, at + 1, std::move(grown));
  auto low = right->items[0].low;
  return {std::move(kept), std::move(low), true};
}

bool tree_edit::remove(std::string_view key) {
  const entry* const old = find(key);
  if (old == nullptr) return false;
  bytes_.subtract(*old);
  remove_below(top_, key);
  if (!top_->is_leaf && top_->size == 1) {
    auto only = as_inner(*top_).items[0].child;
    top_ = std::move(only);
  }
  return true;
}

void tree_edit::remove_below(ref<node>& slot, std::string_view key) {
  node& n = own(slot);
  if (n.is_leaf) {
    remove_at(as_leaf(n), position(as_leaf(n), key));
    return;
  }
  auto& inner = as_inner(n);
  const auto at = position(inner, key);
  remove_below(inner.items[at].child, key);
  --inner.items[at].count;
  if (inner.items[at].child->size < node::low_water) rebalance(inner, at == 0 ? 0 : at - 1);
}

void tree_edit::rebalance(inner_node& parent, std::size_t left) {
  auto& a = parent.items[left];
  auto& b = parent.items[left + 1];
  node& first = own(a.child);
  node& second = own(b.child);
  if (first.is_leaf) {
    merge_or_share(as_leaf(first), as_leaf(second));
    if (second.size > 0) b.low = bound_of(as_leaf(second));
  } else {
    as_inner(second).items[0].low = b.low;
    merge_or_share(as_inner(first), as_inner(second));
    if (second.size > 0) b.low = as_inner(second).items[0].low;
  }
  a.count = count_of(first);
  b.count = count_of(second);
  if (second.size == 0) remove_at(parent, left + 1);
}

}  // namespace troupe::persistence

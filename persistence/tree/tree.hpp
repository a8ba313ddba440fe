// The ordered index behind snapshots: a copy-on-write B+tree whose roots share unchanged
// nodes.
//
// A tree_root is immutable and any thread may read it. A tree_edit belongs to one thread; it copies
// a node at its first change and then modifies the copy in place, so that a batch of many changes
// copies each node once. Dropping an edit undoes it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "persistence/tree/tree_node.hpp"

namespace troupe::persistence {

struct tree_bytes {
  std::uint64_t all = 0;      // of all keys and stored forms of all objects
  std::uint64_t compact = 0;  // of the stored forms of objects of compact kinds

  void add(const entry& added) noexcept {
    all += added.key().size() + added.stored_bytes();
    compact += added.stored().size();
  }
  void subtract(const entry& removed) noexcept {
    all -= removed.key().size() + removed.stored_bytes();
    compact -= removed.stored().size();
  }
};

class tree_root {
 public:
  tree_root(ref<node> top, revision at, tree_bytes bytes) noexcept
      : top_{std::move(top)}, at_{at}, bytes_{bytes} {}

  static std::shared_ptr<const tree_root> empty(revision at);

  revision at() const noexcept { return at_; }
  const ref<node>& top() const noexcept { return top_; }
  std::size_t size() const { return count_of(*top_); }
  tree_bytes bytes() const noexcept { return bytes_; }

  // Null if there is no such key.
  const entry* find(std::string_view key) const;
  std::size_t count(std::string_view prefix) const;

  // Visits entries with `prefix` whose key is greater than `after`, in order, until `visit` returns
  // false.
  using visitor = bool (*)(void* context, const entry& found);
  void scan(std::string_view prefix, std::string_view after, void* context, visitor visit) const;

 private:
  ref<node> top_;
  revision at_;
  tree_bytes bytes_;
};

class tree_edit {
 public:
  explicit tree_edit(const tree_root& from);

  const entry* find(std::string_view key) const;
  std::size_t size() const { return count_of(*top_); }
  std::size_t count(std::string_view prefix) const { return count_prefix(*top_, prefix); }
  tree_bytes bytes() const noexcept { return bytes_; }
  // Inserts or replaces. For an object of a compact kind only the stored form is kept.
  // `stored_bytes`: the size of the stored form.
  void put(std::string_view key, api::object_ptr object, revision created,
           std::uint32_t stored_bytes = 0);
  void put(std::string_view key, const stored_object& object, revision created);
  // Returns false if there was no such key.
  bool remove(std::string_view key);
  // The state after the changes made so far. Later changes through this edit do not affect it.
  std::shared_ptr<const tree_root> freeze(revision at);

 private:
  struct put_result {
    ref<node> right;       // set when the node was split: the new right half …
    ref<const entry> low;  // … and its lower bound
    bool added = false;
  };

  node& own(ref<node>& slot) const;
  void put(const ref<const entry>& next);
  put_result put_below(ref<node>& slot, const ref<const entry>& next);
  put_result put_in_leaf(leaf_node& n, const ref<const entry>& next);
  put_result put_in_inner(inner_node& n, const ref<const entry>& next);
  void remove_below(ref<node>& slot, std::string_view key);
  void rebalance(inner_node& parent, std::size_t left);

  ref<node> top_;
  std::uint64_t token_;
  tree_bytes bytes_;
};

}  // namespace troupe::persistence

// The nodes of the snapshot tree: entries (one key with its object), leaves and branches.
//
// All nodes are immutable and shared between roots once a frozen root reaches them. A
// node whose `owner` is the current edit is reachable from no root and may be changed in
// place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/object/object.hpp"
#include "persistence/error.hpp"
#include "persistence/tree/ref.hpp"

namespace troupe::persistence {

// A state of an object of a compact kind, as api::to_storage writes it.
struct stored_object {
  const api::kind_info* kind;
  revision modified;
  std::string_view bytes;
};

// A key and its object; without an object, the lower bound of a branch. For a compact kind it has
// the stored bytes only.
class entry final : public counted<entry> {
 public:
  // `stored_bytes`: the size of the object's stored form.
  static ref<const entry> make(std::string_view key, api::object_ptr object, revision created,
                               std::uint32_t stored_bytes = 0);
  static ref<const entry> make(std::string_view key, const stored_object& object, revision created);
  static void destroy(const entry* dead) noexcept;

  std::string_view key() const noexcept {
    return {reinterpret_cast<const char*>(this + 1), key_size_};
  }
  // For stored bytes, decodes a new object each time, which keeps this entry alive.
  api::object_ptr object() const;
  revision created() const noexcept { return created_; }
  // Not for a bound.
  const api::kind_info& kind() const noexcept {
    return encoded() ? *encoded_.kind : object_->kind();
  }
  revision modified() const noexcept { return encoded() ? encoded_.modified : object_->revision(); }

  bool encoded() const noexcept { return encoded_form_ != 0; }
  // Not for an encoded entry.
  const api::object_ptr& kept() const noexcept { return object_; }
  // Empty if an object is kept.
  std::string_view stored() const noexcept {
    if (!encoded()) return {};
    return {reinterpret_cast<const char*>(this + 1) + key_size_, stored_size_};
  }
  // The size of the stored form, kept here or not.
  std::uint64_t stored_bytes() const noexcept { return stored_size_; }

 private:
  struct encoded_state {
    const api::kind_info* kind;
    revision modified;
  };

  // The key's bytes follow the entry in the same memory block, then the stored form.
  entry(std::string_view key, api::object_ptr object, revision created, std::uint32_t stored_bytes);
  entry(std::string_view key, const stored_object& object, revision created);
  ~entry();

  union {
    api::object_ptr object_;
    encoded_state encoded_;
  };
  revision created_;
  std::uint32_t key_size_;
  std::uint32_t stored_size_ : 31;
  std::uint32_t encoded_form_ : 1;
};

struct node : counted<node> {
  // With 32, a copy of a node takes about 0.5 us, and 10,000 keys are three levels deep.
  static constexpr std::size_t capacity = 32;
  // A smaller node is merged with its neighbour, or takes half of the neighbour's entries.
  static constexpr std::size_t low_water = 8;

  std::uint64_t owner;
  std::uint32_t size = 0;
  bool is_leaf;

  static void destroy(const node* dead) noexcept;

 protected:
  node(std::uint64_t owned_by, bool leaf) noexcept : owner{owned_by}, is_leaf{leaf} {}
  ~node() = default;
};

template <class Item, bool IsLeaf>
struct node_of final : node {
  using item = Item;
  std::array<Item, capacity> items;

  explicit node_of(std::uint64_t owned_by) noexcept : node{owned_by, IsLeaf} {}
  node_of(const node_of& other, std::uint64_t owned_by) noexcept : node{owned_by, IsLeaf} {
    size = other.size;
    for (std::size_t i = 0; i < size; ++i)
      items[i] = other.items[i];
  }
};

struct branch {
  ref<node> child;
  ref<const entry> low;   // lower bound of the keys below `child`; unused in the first branch
  std::size_t count = 0;  // keys below `child`
};

using leaf_node = node_of<ref<const entry>, true>;
using inner_node = node_of<branch, false>;

inline const leaf_node& as_leaf(const node& n) {
  return static_cast<const leaf_node&>(n);
}
inline const inner_node& as_inner(const node& n) {
  return static_cast<const inner_node&>(n);
}
inline leaf_node& as_leaf(node& n) {
  return static_cast<leaf_node&>(n);
}
inline inner_node& as_inner(node& n) {
  return static_cast<inner_node&>(n);
}

// The number of keys in and below a node.
std::size_t count_of(const node& n);
// The number of keys with that prefix in or below a node.
std::size_t count_prefix(const node& top, std::string_view prefix);
// The index of the first entry that is not smaller than `key`.
std::size_t position(const leaf_node& n, std::string_view key);
// The index of the branch that a key belongs to.
std::size_t position(const inner_node& n, std::string_view key);
// The entry with that key in or below a node; null if there is none.
const entry* find_entry(const node& top, std::string_view key);

}  // namespace troupe::persistence

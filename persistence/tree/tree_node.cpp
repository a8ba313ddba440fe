#include "persistence/tree/tree_node.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

namespace troupe::persistence {

namespace {

// Values are limited to some MiB and keys to much less (store_options).
std::uint32_t size_of(std::string_view text) {
  return static_cast<std::uint32_t>(text.size());
}

// The smallest key greater than every key with this prefix; empty if there is none.
std::string after_prefix(std::string_view prefix) {
  std::string next{prefix};
  while (!next.empty() && static_cast<unsigned char>(next.back()) == 0xff)
    next.pop_back();
  if (!next.empty()) next.back() = static_cast<char>(static_cast<unsigned char>(next.back()) + 1);
  return next;
}

// The number of keys below `top` that are smaller than `key`.
std::size_t rank(const node& top, std::string_view key) {
  std::size_t before = 0;
  const node* n = &top;
  while (!n->is_leaf) {
    const auto& inner = as_inner(*n);
    const auto at = position(inner, key);
    for (std::size_t i = 0; i < at; ++i)
      before += inner.items[i].count;
    n = inner.items[at].child.get();
  }
  return before + position(as_leaf(*n), key);
}

}  // namespace

entry::entry(std::string_view key, api::object_ptr object, revision created,
             std::uint32_t stored_bytes)
    : object_{std::move(object)},
      created_{created},
      key_size_{size_of(key)},
      stored_size_{stored_bytes},
      encoded_form_{0} {
  std::memcpy(reinterpret_cast<char*>(this + 1), key.data(), key.size());
}

entry::entry(std::string_view key, const stored_object& object, revision created)
    : encoded_{object.kind, object.modified},
      created_{created},
      key_size_{size_of(key)},
      stored_size_{size_of(object.bytes)},
      encoded_form_{1} {
  auto* const place = reinterpret_cast<char*>(this + 1);
  std::memcpy(place, key.data(), key.size());
  std::memcpy(place + key.size(), object.bytes.data(), object.bytes.size());
}

entry::~entry() {
  if (!encoded()) object_.~shared_ptr();
}

ref<const entry> entry::make(std::string_view key, const stored_object& object, revision created) {
  void* place = ::operator new(sizeof(entry) + key.size() + object.bytes.size());
  return ref<const entry>{new (place) entry{key, object, created}};
}

api::object_ptr entry::object() const {
  if (!encoded()) return object_;
  retain();
  std::shared_ptr<const void> owner{static_cast<const void*>(this),
                                    [this](const void*) { release(); }};
  return api::object::encoded(*encoded_.kind, stored(), encoded_.modified, std::move(owner));
}

ref<const entry> entry::make(std::string_view key, api::object_ptr object, revision created,
                             std::uint32_t stored_bytes) {
  void* place = ::operator new(sizeof(entry) + key.size());
  return ref<const entry>{new (place) entry{key, std::move(object), created, stored_bytes}};
}

void entry::destroy(const entry* dead) noexcept {
  dead->~entry();
  ::operator delete(const_cast<entry*>(dead));
}

void node::destroy(const node* dead) noexcept {
  if (dead->is_leaf)
    delete static_cast<const leaf_node*>(dead);
  else
    delete static_cast<const inner_node*>(dead);
}

std::size_t count_of(const node& n) {
  if (n.is_leaf) return n.size;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < n.size; ++i)
    sum += as_inner(n).items[i].count;
  return sum;
}

std::size_t count_prefix(const node& top, std::string_view prefix) {
  const auto next = after_prefix(prefix);
  return (next.empty() ? count_of(top) : rank(top, next)) - rank(top, prefix);
}

std::size_t position(const leaf_node& n, std::string_view key) {
  const auto* first = n.items.data();
  const auto* found =
      std::lower_bound(first, first + n.size, key,
                       [](const ref<const entry>& e, std::string_view k) { return e->key() < k; });
  return static_cast<std::size_t>(found - first);
}

std::size_t position(const inner_node& n, std::string_view key) {
  const auto* first = n.items.data();
  const auto* found =
      std::upper_bound(first + 1, first + n.size, key,
                       [](std::string_view k, const branch& b) { return k < b.low->key(); });
  return static_cast<std::size_t>(found - first) - 1;
}

const entry* find_entry(const node& top, std::string_view key) {
  const node* n = &top;
  while (!n->is_leaf) {
    const auto& inner = as_inner(*n);
    n = inner.items[position(inner, key)].child.get();
  }
  const auto& leaf = as_leaf(*n);
  const auto i = position(leaf, key);
  return i < leaf.size && leaf.items[i]->key() == key ? leaf.items[i].get() : nullptr;
}

}  // namespace troupe::persistence

// The state of the store at one revision: an immutable ordered map from key to object.
//
// A copy is one atomic increment. Snapshots share all nodes that did not change between them (a
// copy-on-write B+tree), so an old one costs only the difference.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "api/object/object.hpp"
#include "persistence/error.hpp"

namespace troupe::persistence {

class tree_root;

class snapshot {
 public:
  snapshot(std::shared_ptr<const tree_root> root, revision at) : root_{std::move(root)}, at_{at} {}

  revision at() const noexcept { return at_; }

  // Null if there is no such key.
  api::object_ptr find(std::string_view key) const;

  // Visits the objects whose key begins with `prefix` and is greater than `after`, in order of key,
  // until `visit` returns false: bool visit(std::string_view key, const api::object_ptr&).
  template <class F>
  void scan(std::string_view prefix, std::string_view after, F visit) const {
    scan_erased(prefix, after, &visit,
                [](void* f, std::string_view key, const api::object_ptr& found) {
                  return (*static_cast<F*>(f))(key, found);
                });
  }

  // Visits all keys with that prefix. Objects of a compact kind are passed in stored form:
  // visit(std::string_view key, revision modified, std::string_view stored), empty for other kinds.
  template <class F>
  void scan_stored(std::string_view prefix, F visit) const {
    scan_stored_erased(
        prefix, &visit,
        [](void* f, std::string_view key, revision modified, std::string_view stored) {
          (*static_cast<F*>(f))(key, modified, stored);
        });
  }
  // Calls api::object::forget_texts() of all objects.
  void forget_texts() const;
  // The total size of the stored forms of all objects of compact kinds.
  std::size_t encoded_bytes() const;

  // The number of keys with that prefix; does not visit them.
  std::size_t count(std::string_view prefix) const;
  std::size_t size() const;
  // The total size of all keys and the stored forms of all objects.
  std::uint64_t stored_bytes() const;

 private:
  using visitor = bool (*)(void* context, std::string_view key, const api::object_ptr& found);
  void scan_erased(std::string_view prefix, std::string_view after, void* context,
                   visitor visit) const;

  using stored_visitor = void (*)(void* context, std::string_view key, revision modified,
                                  std::string_view stored);
  void scan_stored_erased(std::string_view prefix, void* context, stored_visitor visit) const;

  std::shared_ptr<const tree_root> root_;
  revision at_;
};

}  // namespace troupe::persistence

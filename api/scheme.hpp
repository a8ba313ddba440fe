// The registry of kinds: those of the schema (every message with the `kind` option), and custom
// kinds, which are added and removed at run time. Internal kinds of the program (verbs: "none") are
// found by key and by type only.
//
// A table of kinds is immutable: adding or removing a kind makes a new table and swaps it in,
// so readers never wait. A request loads the table once and sees a consistent state. Thread
// safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/error.hpp"
#include "api/kind.hpp"

namespace troupe::api {

// All kinds at one time; keeps them alive.
class kind_table {
 public:
  kind_table(std::vector<kind_handle> kinds, std::uint64_t revision);

  // Lookups return null if there is no such kind. `api_version` is "v1" or "group/version".
  const kind_info* find(std::string_view api_version, std::string_view kind) const;
  const kind_info* find_resource(std::string_view group, std::string_view version,
                                 std::string_view plural) const;
  // The stored kind of a storage key.
  const kind_info* find_key(std::string_view key) const;

  // The served kinds, sorted by group (core first), version, plural.
  const std::vector<const kind_info*>& all() const noexcept { return all_; }
  // The kinds with objects, served or not; each has its own key prefix.
  const std::vector<const kind_info*>& stored() const noexcept { return stored_; }
  // "v1", "apps/v1" ... in the order of discovery.
  std::vector<std::string> api_versions() const;
  // Raised by each change: documents made from the kinds are valid for one revision.
  std::uint64_t revision() const noexcept { return revision_; }

 private:
  friend class scheme;
  // Views into names owned by the kinds.
  using names = std::pair<std::string_view, std::string_view>;

  std::vector<kind_handle> kinds_;
  std::uint64_t revision_;
  std::vector<const kind_info*> all_;
  std::vector<const kind_info*> stored_;
  std::map<names, const kind_info*> by_kind_;      // (api version, kind)
  std::map<names, const kind_info*> by_resource_;  // (api version, plural)
  std::unordered_map<std::string_view, const kind_info*> by_prefix_;
};

// One version of a custom kind. `rules` may be null.
struct custom_kind {
  Kind options;
  version_rules_ptr rules = {};
};

using kind_table_ptr = std::shared_ptr<const kind_table>;

// A range over the served kinds of one table, which it keeps alive.
class kind_list {
 public:
  explicit kind_list(kind_table_ptr table) : table_(std::move(table)) {}
  auto begin() const noexcept { return table_->all().begin(); }
  auto end() const noexcept { return table_->all().end(); }

 private:
  kind_table_ptr table_;
};

class scheme {
 public:
  static scheme& instance();
  scheme(const scheme&) = delete;
  scheme& operator=(const scheme&) = delete;

  // The current table.
  kind_table_ptr kinds() const { return table_.load(std::memory_order_acquire); }
  std::uint64_t revision() const { return kinds()->revision(); }

  // Lookups in the current table. Built-in kinds are found without it.
  kind_handle find(std::string_view api_version, std::string_view kind) const;
  kind_handle find_resource(std::string_view group, std::string_view version,
                            std::string_view plural) const;
  kind_handle find_key(std::string_view key) const;
  // The built-in kind with that body type.
  const kind_info* find(const google::protobuf::Descriptor& type) const;
  kind_list all() const { return kind_list(kinds()); }
  std::vector<std::string> api_versions() const { return kinds()->api_versions(); }

  // -- custom kinds; calls are serialized --------------------------------------------------------

  // Adds a custom kind, or replaces the one of the same group and plural. The first version is the
  // storage version, the others present its objects; all have the same group, plural and scope. 400
  // if the options are not those of a custom kind, 409 if a kind of the group has the name. Returns
  // the kind of the first version.
  expected<kind_handle> put(const std::vector<custom_kind>& versions);
  expected<kind_handle> put(Kind options);
  // Finds the kind of that group and plural, or makes a stand-in that is not served: for stored
  // objects whose kind is not registered (yet, or any more). Null if the options are not those of a
  // custom kind.
  kind_handle find_or_placeholder(Kind options);
  // Removes the kind with all its versions, if present. Existing handles stay valid.
  void remove(const kind_info& kind);
  // The same by name; returns false if there is no such kind.
  bool remove(std::string_view group, std::string_view plural);

 private:
  scheme();
  kind_handle put_locked(const std::vector<custom_kind>& versions);
  bool remove_locked(std::string_view group, std::string_view plural);

  const kind_table_ptr built_in_;
  std::unordered_map<const google::protobuf::Descriptor*, const kind_info*> by_type_;
  std::mutex changing_;
  std::atomic<kind_table_ptr> table_;
};

// The kind of a body type: `kind_of<core::v1::Pod>()`. T must be a kind.
const kind_info& kind_of_type(const google::protobuf::Descriptor& type);
template <class T>
const kind_info& kind_of() {
  static const kind_info& found = kind_of_type(*T::descriptor());
  return found;
}

}  // namespace troupe::api

// The registry of kinds: those of the schema (every message with the `kind` option), and custom
// ones that come and go while the program runs. Kinds of the program's own (verbs: "none")
// are found by key and by type only.
//
// A table of kinds never changes: who adds or removes a kind makes another one and puts it in
// place, so that readers wait for nobody. A request takes the table once and sees one state of it.
// Safe from any thread.
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

// All kinds at one time; keeps them.
class kind_table {
 public:
  kind_table(std::vector<kind_handle> kinds, std::uint64_t revision);

  // All answer null where there is no such kind. `api_version` is "v1" or "group/version".
  const kind_info* find(std::string_view api_version, std::string_view kind) const;
  const kind_info* find_resource(std::string_view group, std::string_view version,
                                 std::string_view plural) const;
  // The stored kind that a storage key belongs to.
  const kind_info* find_key(std::string_view key) const;

  // Those that are served, sorted by group (core first), version, plural.
  const std::vector<const kind_info*>& all() const noexcept { return all_; }
  // Those that have objects, served or not; each has a prefix of its own.
  const std::vector<const kind_info*>& stored() const noexcept { return stored_; }
  // "v1", "apps/v1" ... in the order of discovery.
  std::vector<std::string> api_versions() const;
  // Higher after each change: documents made from the kinds are good for one revision.
  std::uint64_t revision() const noexcept { return revision_; }

 private:
  friend class scheme;
  // Views into the names that the kinds own.
  using names = std::pair<std::string_view, std::string_view>;

  std::vector<kind_handle> kinds_;
  std::uint64_t revision_;
  std::vector<const kind_info*> all_;
  std::vector<const kind_info*> stored_;
  std::map<names, const kind_info*> by_kind_;      // (api version, kind)
  std::map<names, const kind_info*> by_resource_;  // (api version, plural)
  std::unordered_map<std::string_view, const kind_info*> by_prefix_;
};

// A custom kind in one of its versions. `rules` may be null.
struct custom_kind {
  Kind options;
  version_rules_ptr rules = {};
};

using kind_table_ptr = std::shared_ptr<const kind_table>;

// The kinds that were served at one time, to be walked over: keeps them meanwhile.
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

  // The table of now.
  kind_table_ptr kinds() const { return table_.load(std::memory_order_acquire); }
  std::uint64_t revision() const { return kinds()->revision(); }

  // As in the table of now. Built-in kinds are found without it.
  kind_handle find(std::string_view api_version, std::string_view kind) const;
  kind_handle find_resource(std::string_view group, std::string_view version,
                            std::string_view plural) const;
  kind_handle find_key(std::string_view key) const;
  // The built-in kind whose body is of that message type.
  const kind_info* find(const google::protobuf::Descriptor& type) const;
  kind_list all() const { return kind_list(kinds()); }
  std::vector<std::string> api_versions() const { return kinds()->api_versions(); }

  // -- custom kinds; by one thread after the other -----------------------------------------------

  // Puts a custom kind into the table, in place of the one of the same group and plural. The
  // first version is the one in which objects are stored, the others show its objects; all have the
  // same group, plural and scope. 400 where the options are none of a custom kind, 409 where a kind
  // of the group has the name. Answers the kind of the first version.
  expected<kind_handle> put(const std::vector<custom_kind>& versions);
  expected<kind_handle> put(Kind options);
  // The kind of that group and plural, and where none is there one that is served to nobody: for
  // objects in the store whose kind is not there (yet, or no more). Null for options of no custom
  // kind.
  kind_handle find_or_stand_in(Kind options);
  // Takes it out with all its versions, if it is there. Whoever has a handle goes on with it.
  void remove(const kind_info& kind);
  // The same by its names; false where there is none.
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

// The kind of a body type: `kind_of<core::v1::Pod>()`. It is an error of the program if T is none.
const kind_info& kind_of_type(const google::protobuf::Descriptor& type);
template <class T>
const kind_info& kind_of() {
  static const kind_info& found = kind_of_type(*T::descriptor());
  return found;
}

}  // namespace troupe::api

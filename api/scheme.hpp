// The registry of kinds: everything in the schema that carries the `kind` option. What the program
// keeps for itself (verbs: "none") is found by key and by type only.
#pragma once

#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/kind.hpp"

namespace troupe::api {

// Built at first use from the schema, read-only afterwards; safe from any thread.
class scheme {
 public:
  static const scheme& instance();

  // All answer null where there is no such kind. `api_version` is "v1" or "group/version".
  const kind_info* find(std::string_view api_version, std::string_view kind) const;
  const kind_info* find_resource(std::string_view group, std::string_view version,
                                 std::string_view plural) const;
  // The stored kind that a storage key belongs to.
  const kind_info* find_key(std::string_view key) const;
  // The kind whose body is of that message type.
  const kind_info* find(const google::protobuf::Descriptor& type) const;

  // Those that are served, sorted by group (core first), version, plural.
  const std::vector<const kind_info*>& all() const noexcept { return all_; }
  // "v1", "apps/v1" ... in the order of discovery.
  std::vector<std::string> api_versions() const;

 private:
  // Views into the names that the kinds own.
  using names = std::pair<std::string_view, std::string_view>;

  scheme();
  void index(const kind_info& kind);
  void index_stored(const kind_info& kind);

  std::vector<std::unique_ptr<kind_info>> owned_;
  std::vector<const kind_info*> all_;
  std::map<names, const kind_info*> by_kind_;      // (api version, kind)
  std::map<names, const kind_info*> by_resource_;  // (api version, plural)
  std::unordered_map<std::string_view, const kind_info*> by_stored_plural_;
  std::unordered_map<const google::protobuf::Descriptor*, const kind_info*> by_type_;
};

// The kind of a body type: `kind_of<core::v1::Pod>()`. It is an error of the program if T is none.
const kind_info& kind_of_type(const google::protobuf::Descriptor& type);
template <class T>
const kind_info& kind_of() {
  static const kind_info& found = kind_of_type(*T::descriptor());
  return found;
}

}  // namespace troupe::api

// The type of a value for server-side apply: how values of the type are merged. One view of the
// schema of built-in kinds (type_info) and of those of custom kinds; without either, the type is
// deduced from the value.
//
// A small value type. The kind must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kind.hpp"

namespace troupe::api {

struct field_info;
struct schema_node;
struct structural_schema;
class type_info;

class merge_type {
 public:
  enum class merges : std::uint8_t {
    atomic,      // one value: scalars, and values that are replaced as a whole
    structure,   // an object with fields
    map,         // an object with keys
    set,         // a list, each element once
    keyed_list,  // a list whose elements have keys
    deduced      // objects are maps, other values are atomic
  };

  merge_type() = default;  // deduced
  static merge_type of(const kind_info& kind);

  merges is() const;
  // The type of a member of an object.
  merge_type member(std::string_view name) const;
  // For a structure: whether the schema has the field.
  bool declares(std::string_view name) const;
  // Whether a structure may have fields that are not in the schema.
  bool open() const;
  // The type of an element of a list.
  merge_type element() const;
  // The key fields of a keyed list, in order of name.
  std::vector<std::string> keys() const;
  // The default of a key that an element of a keyed list lacks, as JSON; empty: none.
  std::string key_default(std::string_view key) const;

 private:
  // The first one in this order that is set describes the value.
  const field_info* field_ = nullptr;  // a list or a map of the schema
  const type_info* message_ = nullptr;
  const schema_node* node_ = nullptr;
  const structural_schema* whole_ = nullptr;  // `node_` is its root
  bool atomic_ = false;
  bool custom_root_ = false;  // without a schema: only metadata is known
};

}  // namespace troupe::api

// What server-side apply has to know of the type of a value: how it is merged. One view of the
// schema of built-in kinds (type_info) and of the schemas of custom ones; of what neither knows,
// the value itself says it.
//
// A small value. The kind that it comes from must outlive it.
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
    atomic,      // one value: scalars, and what is replaced as a whole
    structure,   // an object with fields
    map,         // an object with keys
    set,         // a list, each element once
    keyed_list,  // a list whose elements have keys
    deduced      // objects are maps, all else is atomic
  };

  merge_type() = default;  // deduced
  static merge_type of(const kind_info& kind);

  merges is() const;
  // The type of a member of an object.
  merge_type member(std::string_view name) const;
  // Of a structure: the schema has the field.
  bool declares(std::string_view name) const;
  // A structure may have fields that the schema has not.
  bool open() const;
  // The type of an element of a list.
  merge_type element() const;
  // Of a keyed list, in order of name.
  std::vector<std::string> keys() const;
  // What a key is where an element of a keyed list has none, as JSON; empty: nothing.
  std::string key_default(std::string_view key) const;

 private:
  // Where several are set, the first in this order says what the value is.
  const field_info* field_ = nullptr;  // a list or a map of the schema
  const type_info* message_ = nullptr;
  const schema_node* node_ = nullptr;
  const structural_schema* whole_ = nullptr;  // `node_` is its root
  bool atomic_ = false;
  bool custom_root_ = false;  // without a schema: only metadata is known
};

}  // namespace troupe::api

// A structural schema as a tree, made once for each version of a definition (compile.hpp).
//
// kubernetes: apiextensions-apiserver/pkg/apiserver/schema/structural.go. Only .cpp files of the
// room include it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/json_dom.hpp"

namespace re2 {
class RE2;
}

namespace troupe::api {

struct schema_node;
using schema_node_ptr = std::unique_ptr<schema_node>;

enum class schema_type : std::uint8_t { any, object, array, string, integer, number, boolean };
enum class schema_list : std::uint8_t { atomic, set, map };

// The name in a schema: "object"; empty for `any`.
std::string_view name_of(schema_type type);

// A regular expression of RE2, whose language is Go's. Compiled at its first use: most patterns of
// a cluster's definitions are never used. Thread safe.
class text_pattern {
 public:
  explicit text_pattern(std::string text);
  ~text_pattern();

  const std::string& text() const noexcept { return text_; }
  // Matches anywhere in the value.
  bool found_in(std::string_view value) const;

  struct check_result {
    std::string problem;       // empty: none
    std::size_t instructions;  // number of instructions of the compiled program
  };
  static check_result check(std::string_view text);

 private:
  const std::string text_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<re2::RE2> compiled_;
};

// The conditions on a value besides its type.
struct value_rules {
  std::optional<double> minimum, maximum, multiple_of;
  bool above_minimum = false, below_maximum = false;   // exclusive bounds
  std::optional<std::int64_t> min_length, max_length;  // characters
  std::optional<std::int64_t> min_items, max_items;
  std::optional<std::int64_t> min_properties, max_properties;
  std::shared_ptr<const text_pattern> pattern;  // equal patterns are shared
  std::string format;
  std::vector<json_value> allowed;  // enum
  std::vector<std::string> required;
  std::vector<schema_node_ptr> all_of, any_of, one_of;
  schema_node_ptr none_of;  // not
};

struct schema_property {
  schema_property(std::string_view name, schema_node_ptr node);

  std::string name;
  schema_node_ptr node;
  std::uint64_t prefix;  // prefix_of(name), compared first in a search
};

// The first eight bytes as a number that sorts like the text.
std::uint64_t prefix_of(std::string_view text) noexcept;

struct schema_node {
  schema_type type = schema_type::any;
  bool nullable = false;
  bool int_or_string = false;
  bool keeps_unknown = false;  // x-kubernetes-preserve-unknown-fields
  bool embedded = false;       // x-kubernetes-embedded-resource
  bool values_of_any = false;  // additionalProperties: true
  bool atomic_map = false;
  bool sets_members = false;  // one of the properties has a default
  schema_list list = schema_list::atomic;

  std::vector<schema_property> properties;  // in order of name
  schema_node_ptr items;
  schema_node_ptr values;                // additionalProperties
  std::unique_ptr<json_value> fallback;  // default
  std::unique_ptr<value_rules> rules;
  std::unique_ptr<std::vector<std::string>> list_keys;  // for a list of type map

  const schema_node* find(std::string_view name) const;
  // Whether the value is a null that is not allowed: it is replaced by the default or removed.
  bool drops(const json_value& value) const { return value.IsNull() && !nullable; }
};

// The whole schema of one version. Immutable and thread safe.
struct structural_schema {
  structural_schema();

  json_allocator pool;  // for defaults and enums
  // Without apiVersion, kind and metadata, which are not in CustomBody.rest.
  schema_node root;
  // The schemas of metadata.name and metadata.generateName; null: none.
  schema_node_ptr name, generate_name;
};

}  // namespace troupe::api

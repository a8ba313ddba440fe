// Sets of field paths of an object, without values: the unit of ownership in server-side
// apply.
//
// kubernetes: sigs.k8s.io/structured-merge-diff/v6/fieldpath; the JSON form is FieldsV1.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace troupe::api {

// One step of a path.
struct field_step {
  // In the order of FieldsV1.
  enum class type : std::uint8_t { field, key, value, index };

  type is = type::field;
  // A field name; the keys of a list element as a JSON object in order of name; an element of a set
  // as JSON; an index.
  std::string text;

  auto operator<=>(const field_step&) const = default;
};

inline field_step field_named(std::string_view name) {
  return {field_step::type::field, std::string{name}};
}

using field_steps = std::vector<field_step>;

// The path as in messages: `.spec.containers[name="c"].image`.
std::string shown(const field_steps& path);

// A node of the set. Children that become empty are removed.
struct field_set {
  bool member = false;  // the path to here is in the set
  std::map<field_step, field_set> below = {};

  bool empty() const noexcept { return !member && below.empty(); }
  void insert(const field_steps& path);
  void erase(const field_steps& path);  // and all paths below
  bool operator==(const field_set&) const = default;
};

field_set unite(field_set a, const field_set& b);
field_set subtract(const field_set& a, const field_set& b);  // only the members of `b`
field_set intersect(const field_set& a, const field_set& b);

void for_each(const field_set& all, const std::function<void(const field_steps& path)>& visit);

// Parses FieldsV1. The error describes the problem.
tl::expected<field_set, std::string> read_fields(std::string_view json);
std::string write_fields(const field_set& all);

}  // namespace troupe::api

// Sets of fields of an object, as server-side apply counts who owns what. Not the values: the
// paths.
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
  // In the order in which they stand in FieldsV1.
  enum class type : std::uint8_t { field, key, value, index };

  type is = type::field;
  // The name of a field; the keys of a list's element as a JSON object in order of name; an element
  // of a set as JSON; a position.
  std::string text;

  auto operator<=>(const field_step&) const = default;
};

using field_steps = std::vector<field_step>;

// `.spec.containers[name="c"].image`, as messages show paths.
std::string shown(const field_steps& path);

// A node of the set. Nothing below a node that is left empty is kept.
struct field_set {
  bool member = false;  // the path to here is in the set
  std::map<field_step, field_set> below = {};

  bool empty() const noexcept { return !member && below.empty(); }
  void insert(const field_steps& path);
  void erase(const field_steps& path);  // with all that is below
  bool operator==(const field_set&) const = default;
};

field_set unite(field_set a, const field_set& b);
field_set subtract(const field_set& a, const field_set& b);  // of `b` its members alone
field_set intersect(const field_set& a, const field_set& b);

void for_each(const field_set& all, const std::function<void(const field_steps& path)>& visit);

// FieldsV1. The error says what is wrong with the text.
tl::expected<field_set, std::string> read_fields(std::string_view json);
std::string write_fields(const field_set& all);

}  // namespace troupe::api

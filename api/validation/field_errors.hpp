// The errors of an object's validation: causes with field paths, in the wording of Kubernetes
// (`Invalid value: "x": must be …`).
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/json_text.hpp"
#include "api/error.hpp"
#include "api/path.hpp"
#include "api/values/syntax.hpp"

namespace troupe::api {

// Collects causes while code walks over an object. The walker moves `at`; each error is about a
// field below it, or about `at` itself if the field name is empty. Causes beyond limits::causes are
// dropped: a hostile object must not cause a larger response.
class field_errors {
 public:
  field_path at;

  void required(std::string_view field, std::string_view detail = {});
  void invalid(std::string_view field, std::string_view value, std::string_view detail);
  // The value as JSON: numbers, bools, lists, objects.
  void invalid_json(std::string_view field, std::string_view json, std::string_view detail);
  template <std::integral T>
  void invalid(std::string_view field, T value, std::string_view detail) {
    if constexpr (std::same_as<T, bool>)
      invalid_json(field, value ? "true" : "false", detail);
    else
      invalid_json(field, std::to_string(value), detail);
  }
  template <class Values>
  void unsupported(std::string_view field, std::string_view value, const Values& supported) {
    unsupported_json(field, quoted(value), supported);
  }
  template <class Values>
  void unsupported_json(std::string_view field, const std::string& json, const Values& supported) {
    std::string detail = "supported values: ";
    bool first = true;
    for (const auto& one : supported) {
      if (!first) detail += ", ";
      detail += quoted(one);
      first = false;
    }
    add("FieldValueNotSupported", field, "Unsupported value: " + json, detail);
  }
  void duplicate(std::string_view field, std::string_view value);
  void duplicate_json(std::string_view json);
  void not_found(std::string_view field, std::string_view value);
  void forbidden(std::string_view field, std::string_view detail);
  void too_long(std::string_view field, std::size_t limit_bytes);
  // For the value at `at`: its type or format differs from the schema.
  void wrong_type(std::string_view value, std::string_view detail);
  void too_many(std::int64_t count, std::int64_t limit);
  // No error if the list is not longer than `limit`.
  void at_most(std::string_view field, int size, int limit);
  // Adds one `invalid` for each complaint about a string's syntax.
  void each(std::string_view field, std::string_view value, const error_messages& found);

  bool empty() const noexcept { return causes_.empty(); }
  std::size_t size() const noexcept { return causes_.size(); }
  // Drops the errors after the first `count`.
  void forget_from(std::size_t count) { causes_.resize(std::min(count, causes_.size())); }
  std::vector<error_cause> take() { return std::move(causes_); }

 private:
  void add(std::string_view reason, std::string_view field, std::string message,
           std::string_view detail);

  std::vector<error_cause> causes_;
};

}  // namespace troupe::api

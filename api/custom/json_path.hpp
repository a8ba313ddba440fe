// Simple JSON paths, as definitions name values in objects: .spec.hosts[0], .spec.names[*],
// .status.conditions[?(@.type=="Ready")].status, .metadata.labels['a.b/c'].
//
// kubernetes: client-go/util/jsonpath, the part of it that columns use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <variant>
#include <vector>

namespace troupe::api {

struct json_path_step;

// Immutable.
class json_path {
 public:
  json_path() = default;

  // The error says what is wrong with the text. It begins with a dot.
  static tl::expected<json_path, std::string> parse(std::string_view text);

  const std::vector<json_path_step>& steps() const noexcept { return steps_; }
  // Members alone, as fields of selectors and scales are named.
  bool plain() const noexcept;
  // Whether the path begins with that member.
  bool starts_with(std::string_view name) const noexcept;
  // It is .metadata.creationTimestamp.
  bool is_creation_time() const noexcept;

 private:
  std::vector<json_path_step> steps_;
};

struct json_path_step {
  enum class type : std::uint8_t { member, every, index, filter };
  enum class comparison : std::uint8_t {
    exists,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal
  };

  type is = type::member;
  std::string name = {};   // of a member
  std::int64_t index = 0;  // below 0: from the end
  // Of a filter: what is compared in each element, and with what.
  std::vector<json_path_step> in_element = {};
  comparison compare = comparison::exists;
  std::variant<std::string, double, bool> literal = {};
};

}  // namespace troupe::api

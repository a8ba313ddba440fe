// Simple JSON paths, as definitions use them for values in objects: .spec.hosts[0], .spec.names[*],
// .status.conditions[?(@.type=="Ready")].status, .metadata.labels['a.b/c'].
//
// kubernetes: client-go/util/jsonpath, the subset that columns use.
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

  // The text begins with a dot. The error describes the problem.
  static tl::expected<json_path, std::string> parse(std::string_view text);

  const std::vector<json_path_step>& steps() const noexcept { return steps_; }
  // True if all steps are members, as in the fields of selectors and scales.
  bool plain() const noexcept;
  // Whether the first step is that member.
  bool starts_with(std::string_view name) const noexcept;
  // Whether the path is .metadata.creationTimestamp.
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
  std::string name = {};   // for a member
  std::int64_t index = 0;  // below 0: from the end
  // For a filter: the path in each element, and the value that it is compared with.
  std::vector<json_path_step> in_element = {};
  comparison compare = comparison::exists;
  std::variant<std::string, double, bool> literal = {};
};

}  // namespace troupe::api

#include "tools/client/object_condition.hpp"

#include <fmt/format.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cctype>

#include "tools/client/field_path.hpp"

namespace troupe::tools {

namespace {

using result = tl::expected<object_condition, std::string>;

bool equal_without_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// Empty also if the kind has no such field.
std::string text_at(const api::body& object, std::string_view path) {
  const auto parsed = field_path::parse(*object.GetDescriptor(), path);
  return parsed ? parsed->text_in(object) : std::string{};
}

bool has_path(const api::kind_info& kind, std::string_view path) {
  return field_path::parse(kind.type(), path).has_value();
}

bool condition_is(const api::body& object, std::string_view type, std::string_view status) {
  for (int i = 0;; ++i) {
    const auto at = fmt::format("status.conditions[{}]", i);
    const auto found = text_at(object, at + ".type");
    if (found.empty()) return false;
    if (equal_without_case(found, type))
      return equal_without_case(text_at(object, at + ".status"), status);
  }
}

bool has_desired_replicas(const api::body* object) {
  return object != nullptr &&
         text_at(*object, "status.observedGeneration") == text_at(*object, "metadata.generation") &&
         text_at(*object, "status.replicas") == text_at(*object, "spec.replicas");
}

result parse_condition(std::string_view text, const api::kind_info& kind) {
  const auto equals = text.find('=');
  const std::string type{text.substr(0, equals)};
  const std::string status{equals == text.npos ? "True" : text.substr(equals + 1)};
  if (type.empty() || status.empty())
    return tl::make_unexpected("expected condition=TYPE or condition=TYPE=STATUS");
  if (!has_path(kind, "status.conditions[0].type"))
    return tl::make_unexpected(kind.kind() + " has no conditions");
  return [type, status](const api::body* object) {
    return object != nullptr && condition_is(*object, type, status);
  };
}

}  // namespace

result parse_object_condition(std::string_view text, const api::kind_info& kind) {
  constexpr std::string_view condition = "condition=";
  if (text == "delete") return [](const api::body* object) { return object == nullptr; };
  if (text == "desiredReplicas") {
    if (has_path(kind, "spec.replicas") && has_path(kind, "status.replicas"))
      return has_desired_replicas;
    return tl::make_unexpected("desiredReplicas needs a kind with replicas, " + kind.kind() +
                               " has none");
  }
  if (text.substr(0, condition.size()) == condition)
    return parse_condition(text.substr(condition.size()), kind);
  const auto equals = text.find('=');
  if (equals == text.npos || equals == 0)
    return tl::make_unexpected("\"" + std::string{text} +
                               "\" is not a condition: expected condition=TYPE[=STATUS], delete, "
                               "desiredReplicas, podsOnMinions or FIELD.PATH=VALUE");
  auto path = field_path::parse(kind.type(), text.substr(0, equals));
  if (!path) return tl::make_unexpected(path.error());
  return [path = *std::move(path),
          value = std::string{text.substr(equals + 1)}](const api::body* object) {
    return object != nullptr && path.text_in(*object) == value;
  };
}

}  // namespace troupe::tools

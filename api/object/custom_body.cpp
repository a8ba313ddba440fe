#include "api/object/custom_body.hpp"

#include <google/protobuf/message.h>

#include <vector>

#include "api/invariant.hpp"

namespace troupe::api {
namespace {

struct text_member {
  std::string_view name;  // as between its quotes
  std::string_view value;
};

// Returns the position after the string that begins at `at`.
std::size_t after_string(std::string_view json, std::size_t at) {
  for (++at; json[at] != '"'; ++at)
    if (json[at] == '\\') ++at;
  return at + 1;
}

// The position after the value that begins at `at`. The text is our own: compact and
// valid.
std::size_t after_value(std::string_view json, std::size_t at) {
  std::size_t depth = 0;
  for (; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '"') {
      at = after_string(json, at) - 1;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;
      --depth;
    } else if (c == ',' && depth == 0) {
      return at;
    }
  }
  return at;
}

// The members are views into the text.
std::vector<text_member> members_of(std::string_view rest) {
  std::vector<text_member> found;
  for (std::size_t at = 1; at + 1 < rest.size();) {
    const auto colon = after_string(rest, at);
    const auto end = after_value(rest, colon + 1);
    found.push_back({rest.substr(at + 1, colon - at - 2), rest.substr(colon + 1, end - colon - 1)});
    at = end + 1;
  }
  return found;
}

std::string text_of(const std::vector<text_member>& members) {
  std::string out;
  for (const auto& [name, value] : members) {
    out += out.empty() ? '{' : ',';
    out.append("\"").append(name).append("\":").append(value);
  }
  if (!out.empty()) out += '}';
  return out;
}

}  // namespace

CustomBody& as_custom(body& content) {
  ensure(content.GetDescriptor() == CustomBody::descriptor(), "the body is of a custom kind");
  return static_cast<CustomBody&>(content);
}

const CustomBody& as_custom(const body& content) {
  return as_custom(const_cast<body&>(content));
}

std::string member_of(const CustomBody& content, std::string_view name) {
  for (const auto& each : members_of(content.rest()))
    if (each.name == name) return std::string(each.value);
  return {};
}

std::string without_member(const CustomBody& content, std::string_view name) {
  auto members = members_of(content.rest());
  std::erase_if(members, [name](const auto& each) { return each.name == name; });
  return text_of(members);
}

void set_member(CustomBody& content, std::string_view name, std::string_view json) {
  auto members = members_of(content.rest());
  auto at = members.begin();
  while (at != members.end() && at->name < name)
    ++at;
  if (at != members.end() && at->name == name) at = members.erase(at);
  if (!json.empty()) members.insert(at, {name, json});
  auto rest = text_of(members);
  if (rest.empty())
    content.clear_rest();
  else
    content.set_rest(std::move(rest));
}

}  // namespace troupe::api

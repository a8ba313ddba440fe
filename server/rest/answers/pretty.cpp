#include "server/rest/answers/pretty.hpp"

#include <algorithm>

namespace troupe::server {
namespace {

constexpr std::size_t indent = 2;

// The position after the closing quote of the string that begins at `at`.
std::size_t string_end(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at)
    if (json[at] == '\\') ++at;
  return std::min(at + 1, json.size());
}

void new_line(std::string& out, std::size_t depth) {
  out += '\n';
  out.append(depth * indent, ' ');
}

}  // namespace

void pretty_printer::append(std::string& out, std::string_view part) {
  for (std::size_t i = 0; i < part.size();) {
    const char c = part[i];
    const bool closes = c == '}' || c == ']';
    if (closes) --depth_;
    if (closes ? !opened_ : opened_) new_line(out, depth_);
    opened_ = c == '{' || c == '[';
    if (c == '"') {
      const auto end = string_end(part, i);
      out += part.substr(i, end - i);
      i = end;
      continue;
    }
    if (opened_) ++depth_;
    if (c == ':')
      out += ": ";
    else if (c != '\n')
      out += c;
    if (c == ',') new_line(out, depth_);
    ++i;
  }
}

std::string pretty_json(std::string_view json) {
  std::string out;
  out.reserve(json.size() * 2);
  pretty_printer{}.append(out, json);
  out += '\n';
  return out;
}

}  // namespace troupe::server

#include "server/rest/pretty.hpp"

#include <algorithm>

namespace troupe::server {
namespace {

constexpr std::size_t indent = 2;

// Behind the closing quote of the string that begins at `at`.
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

std::string pretty_json(std::string_view json) {
  std::string out;
  out.reserve(json.size() * 2);
  std::size_t depth = 0;
  for (std::size_t i = 0; i < json.size();) {
    const char c = json[i];
    const bool empty = (c == '{' || c == '[') && i + 1 < json.size() && json[i + 1] == c + 2;
    if (c == '"') {
      const auto end = string_end(json, i);
      out += json.substr(i, end - i);
      i = end;
      continue;
    }
    if (empty) {
      out += c;
      out += json[++i];
    } else if (c == '{' || c == '[') {
      out += c;
      new_line(out, ++depth);
    } else if (c == '}' || c == ']') {
      new_line(out, depth == 0 ? 0 : --depth);
      out += c;
    } else if (c == ',') {
      out += c;
      new_line(out, depth);
    } else if (c == ':') {
      out += ": ";
    } else if (c != '\n') {
      out += c;
    }
    ++i;
  }
  out += '\n';
  return out;
}

}  // namespace troupe::server

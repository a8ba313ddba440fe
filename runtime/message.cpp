#include "runtime/message.hpp"

namespace troupe::runtime {

namespace {

// "… [with T = a::b<c::d>; std::string_view = …]" has the type between "T = " and the next
// separator outside of angle brackets.
std::string_view type_in(std::string_view pretty) {
  constexpr std::string_view marker = "T = ";
  const auto begin = pretty.find(marker);
  if (begin == std::string_view::npos) return pretty;
  pretty.remove_prefix(begin + marker.size());
  int depth = 0;
  for (std::size_t i = 0; i < pretty.size(); ++i) {
    if (pretty[i] == '<') ++depth;
    if (pretty[i] == '>') --depth;
    if (depth == 0 && (pretty[i] == ';' || pretty[i] == ']')) return pretty.substr(0, i);
  }
  return pretty;
}

std::string_view without_namespace(std::string_view type) {
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i + 1 < type.size(); ++i) {
    if (type[i] == '<') ++depth;
    if (type[i] == '>') --depth;
    if (depth == 0 && type[i] == ':' && type[i + 1] == ':') start = i + 2;
  }
  return type.substr(start);
}

}  // namespace

message_type::message_type(std::string_view pretty) : name_{without_namespace(type_in(pretty))} {}

}  // namespace troupe::runtime

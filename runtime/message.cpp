#include "runtime/message.hpp"

#include <atomic>

namespace troupe::runtime {

namespace {

// "… [with T = a::b<c::d>; std::string_view = …]" holds the type between "T = " and the next
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

std::uint32_t next_index() {
  static std::atomic<std::uint32_t> count{0};
  return count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

message_type::message_type(std::string_view pretty)
    : name_{without_namespace(type_in(pretty))}, index_{next_index()} {}

}  // namespace troupe::runtime

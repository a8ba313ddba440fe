#include <charconv>

#include "runtime/observation.hpp"

namespace troupe::runtime {

std::string trace_cursor::text() const {
  std::string made;
  for (const auto number : at_)
    made += (made.empty() ? "" : ".") + std::to_string(number);
  return made;
}

std::optional<trace_cursor> trace_cursor::parse(std::string_view text) {
  trace_cursor made;
  const auto* at = text.data();
  const auto* const end = at + text.size();
  for (auto& number : made.at_) {
    const bool first = &number == made.at_.data();
    if (!first && (at == end || *at++ != '.')) return {};
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc{}) return {};
    at = next;
  }
  if (at != end) return {};
  return made;
}

}  // namespace troupe::runtime

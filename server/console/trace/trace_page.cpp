#include "server/console/trace/trace_page.hpp"

#include <spdlog/fmt/fmt.h>

#include "api/values/integer.hpp"

namespace troupe::server {

std::string trace_page_text(std::string_view after, const traced& event) {
  return fmt::format("{} {} {}\n{}", after, event.lines, event.lost, event.text);
}

std::optional<read_page> parse_trace_page(std::string_view page) {
  const auto end = page.find('\n');
  const auto first = page.find(' ');
  const auto second = page.find(' ', first + 1);
  if (end == page.npos || first >= end || second >= end) return {};
  const auto lines = api::parse_integer<std::uint64_t>(page.substr(first + 1, second - first - 1));
  const auto lost = api::parse_integer<std::uint64_t>(page.substr(second + 1, end - second - 1));
  if (!lines || !lost) return {};
  read_page made;
  made.after = page.substr(0, first);
  made.events.lines = *lines;
  made.events.lost = *lost;
  made.events.text = page.substr(end + 1);
  return made;
}

}  // namespace troupe::server

#include "server/console/trace/trace_page.hpp"

#include <spdlog/fmt/fmt.h>

#include <charconv>

namespace troupe::server {

std::string trace_page_text(std::string_view after, const traced& event) {
  return fmt::format("{} {} {}\n{}", after, event.lines, event.lost, event.text);
}

std::optional<read_page> parse_trace_page(std::string_view page) {
  const auto number = [](std::string_view text, std::uint64_t& into) {
    const auto* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, into);
    return error == std::errc{} && at == end;
  };
  const auto end = page.find('\n');
  const auto first = page.find(' ');
  const auto second = page.find(' ', first + 1);
  if (end == page.npos || first >= end || second >= end) return {};
  read_page made;
  made.after = page.substr(0, first);
  if (!number(page.substr(first + 1, second - first - 1), made.events.lines)) return {};
  if (!number(page.substr(second + 1, end - second - 1), made.events.lost)) return {};
  made.events.text = page.substr(end + 1);
  return made;
}

}  // namespace troupe::server

// A page of a trace, sent from one machine to another: the position of its end, the number of lines
// and of lost ones, then the lines. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::server {

struct traced {
  std::string text;         // whole lines
  std::uint64_t lines = 0;  // number of lines in `text`
  std::uint64_t lost = 0;   // overwritten before they were read, or beyond `trace_lines`
};

// `after`: the position for the next request (runtime::trace_cursor).
std::string trace_page_text(std::string_view after, const traced& event);

struct read_page {
  std::string after;
  traced events;
};
// Nullopt for an invalid page. `after` from another machine is not checked.
std::optional<read_page> parse_trace_page(std::string_view page);

}  // namespace troupe::server

// A page of a trace, as it goes from one machine to another: where it ends, how many lines it has
// and how many were lost, then the lines. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::server {

struct traced {
  std::string text;         // whole lines
  std::uint64_t lines = 0;  // in it
  std::uint64_t lost = 0;   // overwritten before they were read, or more than `trace_lines` at once
};

// `after`: of the next question (runtime::trace_cursor).
std::string trace_page_text(std::string_view after, const traced& event);

struct read_page {
  std::string after;
  traced events;
};
// Nothing for a page that is none. Another machine may say of `after` what it likes.
std::optional<read_page> parse_trace_page(std::string_view page);

}  // namespace troupe::server

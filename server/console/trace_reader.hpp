// What a trace shows: the messages that the recorder has kept since the last look and that the
// filter wants, a line for each.
//
// A trace of another machine reads there, page by page: where a page ends stands in its first line,
// and the next question begins from it. So nothing of a trace stays on that machine.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/console/context.hpp"
#include "server/console/remote.hpp"
#include "server/console/rendering.hpp"
#include "server/console/trace_page.hpp"

namespace troupe::server {

struct trace_filter {
  std::uint64_t actor = 0;            // 0: any
  std::optional<object_name> object;  // its actors, and what its changes caused
  std::string type;                   // glob; empty: any
};
api::expected<trace_filter> trace_filter_of(const console_context& in, const query_string& query);

// Belongs to one thread at a time.
class trace_reader {
 public:
  // From `at` on.
  trace_reader(console_context in, trace_filter filter, rendering form, runtime::trace_cursor at);
  // Never shows messages of this actor: the one that traces.
  void leave_out(std::uint64_t actor) noexcept { left_out_ = actor; }
  traced read();
  const runtime::trace_cursor& at() const noexcept { return cursor_; }

 private:
  bool wanted(const runtime::trace_record& each) const;
  void note_object();
  void learn_names(const std::vector<runtime::trace_record>& records);
  std::string_view name_of(std::uint64_t id) const;
  void append(std::string& to, const runtime::trace_record& each) const;

  const console_context in_;
  const trace_filter filter_;
  const rendering form_;
  std::uint64_t left_out_ = 0;
  runtime::trace_cursor cursor_;
  std::deque<persistence::revision> revisions_;  // of the object
  std::vector<std::uint64_t> actors_;            // that bear its name
  std::unordered_map<std::uint64_t, std::string> names_;
};

// -- pages ----------------------------------------------------------------------------------------

// What came since the query's `after`; without it nothing, and where to begin.
console_answer trace_page(const console_context& in, const query_string& query);

}  // namespace troupe::server

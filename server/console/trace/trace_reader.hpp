// Produces the lines of a trace: one for each recorded message since the last read that matches the
// filter.
//
// For an object these are the messages of the actors with its name, while they live or have just
// ended, and the messages caused by its changes. The reader gets the revisions of the changes by
// `note_revision`. A reader that follows the store may get a revision after the messages caused by
// it; it therefore delays its lines by one read (`delay_by_one_read`).
//
// A trace of another machine reads page by page: the first line of a page has its end position and
// the known actors; the next request continues from it and sends the revisions. So the traced
// machine keeps no state of a trace.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "server/console/context/context.hpp"
#include "server/console/context/remote.hpp"
#include "server/console/output/rendering.hpp"
#include "server/console/trace/trace_page.hpp"

namespace troupe::server {

struct trace_filter {
  std::uint64_t actor = 0;            // 0: any
  std::optional<object_name> object;  // its actors, and the effects of its changes
  std::string type;                   // glob; empty: any
};
api::expected<trace_filter> trace_filter_of(const console_context& context,
                                            const query_string& query);

// Belongs to one thread at a time.
class trace_reader {
 public:
  // Starts at `at`.
  trace_reader(console_context context, trace_filter filter, rendering form,
               runtime::trace_cursor at);
  // Hides messages of this actor: the tracing one.
  void leave_out(std::uint64_t actor) noexcept { left_out_ = actor; }
  void delay_by_one_read() noexcept { waits_ = true; }
  // Searches all actors for those that already have the object's name.
  void find_actors();
  // Keeps only the latest actors, as for revisions.
  void note_actor(std::uint64_t id);
  void note_revision(persistence::revision at);
  // Without text all lines count as lost.
  traced read(bool with_text = true);
  // The position and the known actors, from which another reader can continue; resume_from returns
  // false for invalid text.
  std::string position() const;
  bool resume_from(std::string_view position);

 private:
  bool wanted(const runtime::trace_record& each) const;
  bool has_object_name(std::string_view actor) const;
  void remember_names(const std::vector<runtime::trace_record>& records);
  std::string_view name_of(std::uint64_t id) const;
  void append(std::string& to, const runtime::trace_record& each) const;

  const console_context context_;
  const trace_filter filter_;
  const rendering form_;
  std::uint64_t left_out_ = 0;
  runtime::trace_cursor cursor_;
  bool waits_ = false;
  std::vector<runtime::trace_record> waiting_;   // of the last read
  std::deque<persistence::revision> revisions_;  // of the object
  std::deque<std::uint64_t> actors_;             // with the object's name
  std::unordered_map<std::uint64_t, std::string> names_;
};

// -- pages ----------------------------------------------------------------------------------------

// The lines after the query's `after`; without it no lines, and the current position. `revisions`:
// those of the object's changes, separated by commas.
console_answer trace_page(const console_context& context, const query_string& query);

}  // namespace troupe::server

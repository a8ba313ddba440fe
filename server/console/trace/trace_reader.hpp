// The lines of a trace: the messages that the recorder has kept since the last look and that the
// filter wants, a line for each.
//
// Of an object these are the messages of the actors that have its name, as long as they live or
// have just ended, and those that the revisions of its changes caused. Of the revisions the reader
// is told (`note_revision`); who follows them in the store may hear of one after the messages that
// it caused, so such a reader gives its lines a look later (`wait_a_look`).
//
// A trace of another machine reads there, page by page: where a page ends and which actors were
// seen stands in its first line, and the next question begins from it and names the revisions. So
// nothing of a trace stays on that machine.
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
  std::optional<object_name> object;  // its actors, and what its changes caused
  std::string type;                   // glob; empty: any
};
api::expected<trace_filter> trace_filter_of(const console_context& context,
                                            const query_string& query);

// Belongs to one thread at a time.
class trace_reader {
 public:
  // From `at` on.
  trace_reader(console_context context, trace_filter filter, rendering form,
               runtime::trace_cursor at);
  // Never shows messages of this actor: the one that traces.
  void leave_out(std::uint64_t actor) noexcept { left_out_ = actor; }
  void wait_a_look() noexcept { waits_ = true; }
  // Walks over all actors for those that have the object's name already.
  void find_actors();
  // The last few are kept, as of revisions.
  void note_actor(std::uint64_t id);
  void note_revision(persistence::revision at);
  // Without the text all lines count as lost.
  traced read(bool with_text = true);
  // Where it stands and the actors that it knows, for a reader to go on from; false for a text that
  // is none.
  std::string position() const;
  bool go_on_from(std::string_view position);

 private:
  bool wanted(const runtime::trace_record& each) const;
  bool bears_name(std::string_view actor) const;
  void learn_names(const std::vector<runtime::trace_record>& records);
  std::string_view name_of(std::uint64_t id) const;
  void append(std::string& to, const runtime::trace_record& each) const;

  const console_context context_;
  const trace_filter filter_;
  const rendering form_;
  std::uint64_t left_out_ = 0;
  runtime::trace_cursor cursor_;
  bool waits_ = false;
  std::vector<runtime::trace_record> waiting_;   // of the last look
  std::deque<persistence::revision> revisions_;  // of the object
  std::deque<std::uint64_t> actors_;             // that have its name
  std::unordered_map<std::uint64_t, std::string> names_;
};

// -- pages ----------------------------------------------------------------------------------------

// What came since the query's `after`; without it nothing, and where to begin. `revisions`: those
// of the object's changes, with a comma between them.
console_answer trace_page(const console_context& context, const query_string& query);

}  // namespace troupe::server

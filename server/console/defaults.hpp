// The constants of the console's behaviour.
#pragma once

#include <chrono>
#include <cstddef>

#include "runtime/clock.hpp"

namespace troupe::server::defaults {

// Views are made on threads of their own, since some walk over all actors; beyond this many that
// wait the answer is 503.
inline constexpr std::size_t console_threads = 2;
inline constexpr std::size_t console_queue = 64;

// How long a view waits for an actor to tell of itself: any answer shall take 200 ms at most.
inline constexpr runtime::duration inspect_limit = std::chrono::milliseconds{120};
// What the search for the last change of a removed object may take, for the same reason.
inline constexpr std::chrono::milliseconds search_limit{120};
inline constexpr std::size_t search_step = 500;

inline constexpr std::size_t rows_shown = 50;
inline constexpr std::size_t rows_limit = 1'000;
// Pages beyond are refused: who looks for something narrows the list.
inline constexpr std::size_t offset_limit = 10'000;
// Children of one supervisor in the tree; the rest is counted.
inline constexpr std::size_t tree_children = 20;
inline constexpr std::size_t tree_rows = 500;
inline constexpr std::size_t messages_shown = 20;
// Of one kind, of one actor; `tree` and `watchers` show more.
inline constexpr std::size_t links_shown = 20;
inline constexpr std::size_t names_shown = 100;

// Changes of one object in its history, and differences in one change.
inline constexpr std::size_t history_shown = 50;
inline constexpr std::size_t history_limit = 500;
inline constexpr std::size_t differences_limit = 100;
inline constexpr std::size_t difference_text_limit = 200;
// Steps from an effect back to its first cause.
inline constexpr std::size_t chain_limit = 20;
// Requests that changed something, kept so that `why` can name them: about 200 bytes each.
inline constexpr std::size_t requests_kept = 4'096;

// What goes to another node and back by its link.
inline constexpr std::chrono::milliseconds remote_limit = std::chrono::seconds{2};
inline constexpr std::size_t question_bytes = 8'192;
inline constexpr std::size_t answer_bytes = 1 << 20;

// Two samples are never closer: however many look, all actors are walked over once in this time.
inline constexpr runtime::duration sample_period = std::chrono::seconds{1};
// Samples for the charts of the page: five minutes.
inline constexpr std::size_t samples_kept = 300;
inline constexpr std::size_t top_actors = 15;

// A trace ends by itself, looks so often, and sends so many lines at once; what does not fit is
// counted as lost.
inline constexpr runtime::duration trace_limit = std::chrono::minutes{10};
inline constexpr runtime::duration trace_period = std::chrono::milliseconds{100};
inline constexpr runtime::duration trace_heartbeat = std::chrono::seconds{1};
inline constexpr std::size_t trace_lines = 1'000;
// Names of actors that it knows from earlier looks: 60 KB.
inline constexpr std::size_t trace_names = 500;
// What may wait for a client that does not read before lines are lost; with one look's lines 0.3
// MB.
inline constexpr std::size_t trace_waiting_bytes = 32u << 10;
// Messages of one look that wait for the next because a revision may name them: 300 KB.
inline constexpr std::size_t trace_records = 4'096;
// Traces at once on a machine: below 32 MB together.
inline constexpr std::size_t traces = 32;
// Of the object that is traced, the last ones.
inline constexpr std::size_t trace_revisions = 64;
inline constexpr std::size_t trace_actors = 64;

// -- when the console warns -----------------------------------------------------------------------
inline constexpr std::size_t warn_mailbox = 100;
inline constexpr runtime::duration warn_handler = std::chrono::milliseconds{100};
inline constexpr unsigned warn_restarts = 3;
inline constexpr std::size_t warn_revisions_behind = 1'000;
// Of a lease's duration.
inline constexpr double warn_lease_age = 0.75;
inline constexpr std::size_t warnings_limit = 100;
// What happened is warned of for so long: several prompts, each of which asks every few seconds.
inline constexpr runtime::duration warn_time = std::chrono::seconds{30};

}  // namespace troupe::server::defaults

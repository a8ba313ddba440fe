// The constants of the console's behaviour.
#pragma once

#include <chrono>
#include <cstddef>

#include "runtime/clock.hpp"

namespace troupe::server::defaults {

// Views run on their own threads, since some walk over all actors. When more than console_queue
// requests wait, the answer is 503.
inline constexpr std::size_t console_threads = 2;
inline constexpr std::size_t console_queue = 64;

// How long a view waits for an actor's answer: every view must answer within 200 ms.
inline constexpr runtime::duration inspect_limit = std::chrono::milliseconds{120};
// The time limit of the search for the last change of a removed object, for the same reason.
inline constexpr std::chrono::milliseconds search_limit{120};
inline constexpr std::size_t search_step = 500;

inline constexpr std::size_t rows_shown = 50;
inline constexpr std::size_t rows_limit = 1'000;
// Larger offsets are refused: users should filter the list instead.
inline constexpr std::size_t offset_limit = 10'000;
// Children of one supervisor shown in the tree; the others are counted.
inline constexpr std::size_t tree_children = 20;
inline constexpr std::size_t tree_rows = 500;
inline constexpr std::size_t messages_shown = 20;
// Links of one kind of one actor; `tree` and `watchers` show more.
inline constexpr std::size_t links_shown = 20;
inline constexpr std::size_t names_shown = 100;

// Changes of one object in its history, and differences in one change.
inline constexpr std::size_t history_shown = 50;
inline constexpr std::size_t history_limit = 500;
inline constexpr std::size_t differences_limit = 100;
inline constexpr std::size_t difference_text_limit = 200;
// Values that are nested deeper are compared as a whole: a user's object may have 10,000 levels.
inline constexpr std::size_t difference_depth = 64;
// Steps from an effect back to its original cause.
inline constexpr std::size_t chain_limit = 20;
// Write requests kept so that `why` can name them: about 200 bytes each.
inline constexpr std::size_t requests_kept = 4'096;

// Limits of questions to other nodes, and of their answers.
inline constexpr std::chrono::milliseconds remote_limit = std::chrono::seconds{2};
inline constexpr std::size_t question_bytes = 8'192;
inline constexpr std::size_t answer_bytes = 1 << 20;

// The minimum time between two samples: with any number of users all actors are visited once in it.
inline constexpr runtime::duration sample_period = std::chrono::seconds{1};
// Samples for the charts of the page: five minutes.
inline constexpr std::size_t samples_kept = 300;
inline constexpr std::size_t top_actors = 15;

// A trace ends after trace_limit, reads every trace_period, and sends at most trace_lines at once;
// the others are counted as lost.
inline constexpr runtime::duration trace_limit = std::chrono::minutes{10};
inline constexpr runtime::duration trace_period = std::chrono::milliseconds{100};
inline constexpr runtime::duration trace_heartbeat = std::chrono::seconds{1};
inline constexpr std::size_t trace_lines = 1'000;
// Names of actors remembered from earlier reads: 60 KB.
inline constexpr std::size_t trace_names = 500;
// The bytes that may wait for a slow client before lines are lost; with the lines of one read 0.3
// MB.
inline constexpr std::size_t trace_waiting_bytes = 32u << 10;
// Messages of one read that wait for the next, because a revision may refer to them: 300 KB.
inline constexpr std::size_t trace_records = 4'096;
// Concurrent traces on a machine: below 32 MB together.
inline constexpr std::size_t traces = 32;
// The latest revisions and actors of the traced object.
inline constexpr std::size_t trace_revisions = 64;
inline constexpr std::size_t trace_actors = 64;

// -- limits of warnings ---------------------------------------------------------------------------
inline constexpr std::size_t warn_mailbox = 100;
inline constexpr runtime::duration warn_handler = std::chrono::milliseconds{100};
inline constexpr unsigned warn_restarts = 3;
inline constexpr std::size_t warn_revisions_behind = 1'000;
// As a part of a lease's duration.
inline constexpr double warn_lease_age = 0.75;
inline constexpr std::size_t warnings_limit = 100;
// How long a warning about an event is shown: several prompts, which are updated every few seconds.
inline constexpr runtime::duration warn_time = std::chrono::seconds{30};

}  // namespace troupe::server::defaults

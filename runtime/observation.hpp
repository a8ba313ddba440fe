// Detailed observation of actors beyond a directory row: messages by type with their
// durations, restarts with their reasons, and a recorder of the system's last
// messages.
//
// Written by the actors with relaxed stores, read by any thread: nothing here waits for an
// actor or makes one wait. Values are read without a lock and may be of slightly different
// moments. Memory is bounded: 112 bytes for each message type of an actor, and the
// recorder's fixed rings (`defaults::recorder_slots`), of which only the used part is
// resident.
#pragma once

#include <spdlog/common.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/clock.hpp"
#include "runtime/directory.hpp"
#include "runtime/message.hpp"

namespace troupe::runtime {

// Upper bounds of the buckets for durations of handlers; the last bucket has none.
inline constexpr std::array<duration, 7> time_classes{
    std::chrono::microseconds{10}, std::chrono::microseconds{100}, std::chrono::milliseconds{1},
    std::chrono::milliseconds{10}, std::chrono::milliseconds{100}, std::chrono::seconds{1},
    std::chrono::seconds{10}};

// The counters of one message type of one actor.
struct message_counts {
  std::string_view type;
  std::uint64_t received = 0;
  std::uint64_t sent = 0;  // tells and requests, but not replies
  duration busy{0};        // time in handlers of received messages
  duration longest{0};
  std::array<std::uint32_t, time_classes.size() + 1> times{};
  duration last{0};      // since the start of the last one; only if any was received
  runtime::cause cause;  // of the last one
};

struct restart_record {
  wall_time at;
  std::string during;  // the message type, or "order" for `actor_system::restart`
  std::string error;
};

struct actor_detail {
  actor_info info;
  std::vector<message_counts> messages;
  std::vector<restart_record> restarts;                // the last `defaults::restarts_kept`
  std::optional<spdlog::level::level_enum> log_level;  // of its own log, if it has one
};

// One handled message.
struct trace_record {
  time_point at;  // when its handler started
  std::uint64_t receiver = 0;
  std::uint64_t sender = 0;  // 0: a timer, or outside of actors
  std::string_view type;
  runtime::cause cause;
  duration waited{0};  // in the mailbox
  duration took{0};
};

// A read position in the recorder. Used by one thread at a time.
class trace_cursor {
 public:
  static constexpr std::size_t rings = 8;
  // The number of records that were overwritten before they were read, in total.
  std::uint64_t lost = 0;

  // The position as text, from which another cursor continues; `parse` returns nothing for invalid
  // text.
  std::string text() const;
  static std::optional<trace_cursor> parse(std::string_view text);

 private:
  friend class flight_recorder;
  std::array<std::uint64_t, rings> at_{};
};

// The last messages of all actors of a system. Thread safe.
class recorder {
 public:
  virtual ~recorder() = default;
  // A cursor after the newest record.
  virtual trace_cursor newest() const = 0;
  // The records since then, oldest first, as far as the rings still hold them.
  virtual std::vector<trace_record> read(trace_cursor& from) const = 0;
  // The records that the rings still hold, oldest first.
  virtual std::vector<trace_record> read_all() const = 0;
};

}  // namespace troupe::runtime

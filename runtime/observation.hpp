// Records about actors beyond a row of the directory: messages by type with
// their times, restarts with their reasons, and a recorder of the last messages of the whole
// system.
//
// Kept by the actors themselves with relaxed stores, read by anybody: nothing here waits for an
// actor or makes one wait. Numbers are read without a lock and may be of slightly different
// moments. Memory is bounded: 112 bytes for each type that an actor has met, and the recorder's
// fixed rings
// (`defaults::recorder_slots`), of which only what is used is resident.
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

// Upper bounds of the classes that times of handlers are counted in; the last class has none.
inline constexpr std::array<duration, 7> time_classes{
    std::chrono::microseconds{10}, std::chrono::microseconds{100}, std::chrono::milliseconds{1},
    std::chrono::milliseconds{10}, std::chrono::milliseconds{100}, std::chrono::seconds{1},
    std::chrono::seconds{10}};

// One type of message of one actor.
struct message_counts {
  std::string_view type;
  std::uint64_t received = 0;
  std::uint64_t sent = 0;  // tells and requests; answers to requests are not counted
  duration busy{0};        // time in handlers of received messages
  duration longest{0};
  std::array<std::uint32_t, time_classes.size() + 1> times{};
  duration last{0};      // since the last one began; only where something was received
  runtime::cause cause;  // of the last one
};

struct restart_record {
  wall_time at;
  std::string during;  // the type of message, or "order" for one by `actor_system::restart`
  std::string error;
};

struct actor_detail {
  actor_info info;
  std::vector<message_counts> messages;
  std::vector<restart_record> restarts;                // the last `defaults::restarts_kept`
  std::optional<spdlog::level::level_enum> log_level;  // of its own log, where it has one
};

// One message that was handled.
struct trace_record {
  time_point at;  // when its handler began
  std::uint64_t receiver = 0;
  std::uint64_t sender = 0;  // 0: a timer, or from outside of any actor
  std::string_view type;
  runtime::cause cause;
  duration waited{0};  // in the mailbox
  duration took{0};
};

// Reads the recorder onward from where it was. Belongs to one thread at a time.
class trace_cursor {
 public:
  static constexpr std::size_t rings = 8;
  // Records that were overwritten before they were read, since the beginning.
  std::uint64_t lost = 0;

  // Its position as text, from which another cursor continues; `parse` returns nothing for other
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
  // A cursor behind the newest record.
  virtual trace_cursor newest() const = 0;
  // The records since then, oldest first. At most all that the rings hold.
  virtual std::vector<trace_record> read(trace_cursor& from) const = 0;
  // The records that the rings still hold, oldest first.
  virtual std::vector<trace_record> read_all() const = 0;
};

}  // namespace troupe::runtime

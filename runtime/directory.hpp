// The directory of live actors with their counters, for the console and the metrics.
//
// Actors write the counters with relaxed atomics, any thread reads them: the values of a row may be
// of slightly different moments. A row takes 0.1 to 0.5 µs, and listing blocks no actor.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/actor_ref.hpp"
#include "runtime/clock.hpp"

namespace troupe::runtime {

struct actor_info {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;  // 0: started by the system itself
  std::string kind;
  std::string name;
  std::uint64_t mailbox = 0;   // messages waiting
  duration oldest{0};          // waiting time of the oldest; at most `current_for` too long
  std::uint64_t received = 0;  // since start, restarts included
  std::uint64_t handled = 0;
  duration busy{0};          // time spent in handlers
  duration longest{0};       // the longest single handler
  std::string_view current;  // type of the message being handled; empty when idle
  duration current_for{0};
  std::uint32_t restarts = 0;
  std::string last_error;  // the exception of the last crash
  duration age{0};
  bool paused = false;       // by actor_system::pause
  bool backing_off = false;  // after a crash
};

struct actor_detail;  // observation.hpp

// Totals of the ended actors of one kind: added to those of live ones they give monotonic
// counters.
struct kind_totals {
  std::uint64_t ended = 0;
  std::uint64_t received = 0;
  std::uint64_t handled = 0;
  std::uint64_t restarts = 0;
  duration busy{0};
};

class directory {
 public:
  virtual ~directory() = default;
  // Calls `visit` for each live actor, unordered.
  virtual void each(const std::function<void(const actor_info&)>& visit) const = 0;
  virtual std::optional<actor_info> find(std::uint64_t id) const = 0;
  virtual actor_ref find(std::string_view kind, std::string_view name) const = 0;
  // All actors with this name, of any kind; looked up by the hash of the name.
  virtual std::vector<actor_ref> called(std::string_view name) const = 0;
  // Empty if there is none.
  virtual actor_ref reference(std::uint64_t id) const = 0;
  virtual std::optional<actor_detail> detail(std::uint64_t id) const = 0;
  virtual std::map<std::string, kind_totals> ended_totals() const = 0;
  virtual std::size_t size() const = 0;
};

}  // namespace troupe::runtime

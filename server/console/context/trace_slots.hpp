// How many traces there may be at once. When all slots are taken, the trace whose client has read
// nothing for the longest time gives its own up; where every client reads there is no slot. What
// one trace keeps is bounded (defaults::trace_…), so all of them together are. Thread safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/clock.hpp"

namespace troupe::server {

class trace_slots : public std::enable_shared_from_this<trace_slots> {
 public:
  explicit trace_slots(std::size_t limit) : limit_{limit} {}

  // One trace; it ends with the object.
  class slot {
   public:
    slot(std::shared_ptr<trace_slots> slots, std::uint64_t id)
        : slots_{std::move(slots)}, id_{id} {}
    slot(const slot&) = delete;
    slot& operator=(const slot&) = delete;
    ~slot();
    // What ends the trace, from any thread.
    void on_eviction(std::function<void()> end);
    // Since when its client has taken nothing; nothing: it reads.
    void stuck_since(std::optional<runtime::time_point> since);

   private:
    const std::shared_ptr<trace_slots> slots_;
    const std::uint64_t id_;
  };

  // Null: there is none.
  std::shared_ptr<slot> enter();

 private:
  struct holder {
    std::function<void()> end;
    std::optional<runtime::time_point> stuck_since;
  };

  const std::size_t limit_;
  std::mutex mutex_;
  std::map<std::uint64_t, holder> holders_;
  std::uint64_t last_ = 0;
};

}  // namespace troupe::server

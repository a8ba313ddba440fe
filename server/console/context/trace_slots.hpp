// Limits the number of concurrent traces. When all slots are taken, the trace whose client has not
// read for the longest time is ended; if all clients read, there is no slot. Each trace is bounded
// (defaults::trace_…), so all together are. Thread safe.
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

  // The slot of one trace; released by the destructor.
  class slot {
   public:
    slot(std::shared_ptr<trace_slots> slots, std::uint64_t id)
        : slots_{std::move(slots)}, id_{id} {}
    slot(const slot&) = delete;
    slot& operator=(const slot&) = delete;
    ~slot();
    // Sets the function that ends the trace; called from any thread.
    void on_eviction(std::function<void()> end);
    // The time since when its client has read nothing; nullopt: it reads.
    void stuck_since(std::optional<runtime::time_point> since);

   private:
    const std::shared_ptr<trace_slots> slots_;
    const std::uint64_t id_;
  };

  // Null if there is no slot.
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

// How many traces there may be at once. When all places are taken, the trace whose client has read
// nothing for the longest time gives its own up; where every client reads there is no place. What
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

class trace_room : public std::enable_shared_from_this<trace_room> {
 public:
  explicit trace_room(std::size_t limit) : limit_{limit} {}

  // One trace; it ends with the object.
  class place {
   public:
    place(std::shared_ptr<trace_room> of, std::uint64_t id) : room_{std::move(of)}, id_{id} {}
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place();
    // What ends the trace, from any thread.
    void on_eviction(std::function<void()> end);
    // Since when its client has taken nothing; nothing: it reads.
    void stuck_since(std::optional<runtime::time_point> since);

   private:
    const std::shared_ptr<trace_room> room_;
    const std::uint64_t id_;
  };

  // Null: there is none.
  std::shared_ptr<place> enter();

 private:
  struct guest {
    std::function<void()> end;
    std::optional<runtime::time_point> stuck_since;
  };

  const std::size_t limit_;
  std::mutex mutex_;
  std::map<std::uint64_t, guest> guests_;
  std::uint64_t last_ = 0;
};

}  // namespace troupe::server

// Pending requests that were made by threads outside of actors.
//
// The answering thread (or the clock's) runs the caller's function itself: an answer for a socket
// takes no hop through another actor. A request is removed from its table before its function runs,
// so that it runs only once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "runtime/detail/pending_calls.hpp"

namespace troupe::runtime {

class external_requests final : public timer_target {
 public:
  explicit external_requests(timer_service& timers) : timers_{timers} {}

  // Arms the timeout; the id is not 0. After `close` it is 0, and `done` has run with `down`.
  std::uint64_t add(time_point due, reply_handler done);
  // Does nothing if it was completed before.
  void complete(std::uint64_t id, const message& reply,
                std::optional<request_error> error) noexcept;
  // Completes it on the clock's thread, never within this call.
  void schedule_failure(std::uint64_t id, request_error error, time_point now);
  // Fails all pending and future requests.
  void close();

  void retain() noexcept override {}
  void due(std::uint64_t id) noexcept override;

 private:
  struct call {
    timer_node node;
    reply_handler done;
    request_error error = request_error::timeout;  // the error at its deadline
  };
  struct shard {
    std::mutex mutex;
    bool closed = false;
    std::uint64_t last = 0;
    std::unordered_map<std::uint64_t, std::unique_ptr<call>> calls;
  };
  static constexpr std::size_t shards = 16;

  shard& shard_of(std::uint64_t id) noexcept { return shards_[id % shards]; }
  std::unique_ptr<call> take(std::uint64_t id);
  static void run(const call& c, const message& reply, const request_error* error) noexcept;

  timer_service& timers_;
  std::atomic<std::uint64_t> turn_{0};
  std::array<shard, shards> shards_;
};

}  // namespace troupe::runtime

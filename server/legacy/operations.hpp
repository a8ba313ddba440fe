// Writes that take longer than a client waits. Each write gets an id from a counter of the process;
// a write that finishes in time returns its result, others return 202 and the id, under which the
// result is available for ten minutes.
//
// The table belongs to an actor and is lost if the actor crashes: the writes continue, and clients
// see their effect in the objects.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/actor_ref.hpp"
#include "runtime/clock.hpp"
#include "server/legacy/legacy_call.hpp"

namespace troupe::runtime {
class system;
}

namespace troupe::server::legacy {

// The result of a write.
struct operation_result {
  int status = 200;
  std::string json;
};

// Thread safe.
class operations {
 public:
  explicit operations(runtime::actor_system& system);
  ~operations();
  operations(const operations&) = delete;
  operations& operator=(const operations&) = delete;

  // Takes over the response of the call, after waiting for `wait`. Returns 0, after responding, if
  // too many are under way. `finish` is called once for each id.
  std::uint64_t begin(const legacy_call_ptr& call, runtime::duration wait);
  void finish(std::uint64_t id, operation_result result);

  // Respond to the call: GET /operations and /operations/{id}.
  void list(const legacy_call_ptr& call) const;
  void show(const legacy_call_ptr& call, std::uint64_t id) const;

 private:
  runtime::actor_system& system_;
  const runtime::actor_ref table_;
  std::atomic<std::uint64_t> last_{0};
  std::atomic<std::size_t> under_way_{0};
};

// The plain text 404 of an unknown path.
response unknown_path(const request& request);

}  // namespace troupe::server::legacy

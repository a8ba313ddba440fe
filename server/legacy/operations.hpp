// Writes that take longer than a client waits. Each write gets an id from a counter of the process;
// one that is done in time is answered with its result, any other with 202 and the id, under which
// the result is found for ten minutes.
//
// The table belongs to an actor. It is lost when the actor crashes: the writes go on, and what the
// clients asked for is seen in the objects.
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

  // Takes over the answer of the call, for which it waits so long. 0, and the call has been
  // answered, while too many are under way. `finish` is called once for each id.
  std::uint64_t begin(const legacy_call_ptr& call, runtime::duration wait);
  void finish(std::uint64_t id, operation_result result);

  // Answer the call: GET /operations and /operations/{id}.
  void list(const legacy_call_ptr& call) const;
  void show(const legacy_call_ptr& call, std::uint64_t id) const;

 private:
  runtime::actor_system& system_;
  const runtime::actor_ref table_;
  std::atomic<std::uint64_t> last_{0};
  std::atomic<std::size_t> under_way_{0};
};

// 404 in plain text, as for a path that nobody serves.
response nothing_there(const request& request);

}  // namespace troupe::server::legacy

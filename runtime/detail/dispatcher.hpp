// The queue of actors with messages that wait for a thread. An actor is in it at most once, so its
// length is bounded by the number of actors.
#pragma once

#include <caf/resumable.hpp>
#include <cstddef>

namespace troupe::runtime {

class dispatcher {
 public:
  virtual ~dispatcher() = default;
  // Takes ownership of one reference to the job.
  virtual void push(caf::resumable* job) = 0;
  // Starts `threads` threads that run the jobs (none in a simulation).
  virtual void start(caf::actor_system& system, std::size_t threads) = 0;
  // Runs the queued actors, then stops the threads.
  virtual void stop() = 0;
};

}  // namespace troupe::runtime

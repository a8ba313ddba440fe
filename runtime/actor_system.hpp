// An actor system: threads, clock, directory, and the top-level actors.
#pragma once

#include <spdlog/common.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/actor.hpp"
#include "runtime/clock.hpp"
#include "runtime/defaults.hpp"
#include "runtime/directory.hpp"
#include "runtime/observation.hpp"

namespace troupe::runtime {

// A crash of an actor: the actor, the message that it was handling, and the time of its restart.
struct crash {
  std::uint64_t id = 0;
  std::string kind;
  std::string name;
  std::string message_type;
  std::string error;
  std::uint32_t restarts = 0;
  duration restart_in{0};  // 0: no restart
};

struct system_options {
  // Threads that run actors; 0 means one for each core, at least two.
  std::size_t threads = 0;
  // Seed of every actor's random source.
  std::uint64_t seed = 0;
  // How long the destructor waits for running handlers.
  duration shutdown_grace = defaults::shutdown_grace;
  // Counts messages by type and records them (observation.hpp). Without it the directory still has
  // the totals; benchmarks compare both.
  bool observe = true;
  // Called on the thread of the crashed actor; must not block.
  std::function<void(const crash&)> on_crash;
};

class actor_system {
 public:
  explicit actor_system(system_options options = {});
  actor_system(const actor_system&) = delete;
  actor_system& operator=(const actor_system&) = delete;
  // Stops all actors; waits at most `shutdown_grace` for running handlers. An actor that is
  // still running then is logged and leaked with its thread and everything that the system
  // owns. Pending requests fail with `down`. References may outlive the system; sending to them
  // fails.
  ~actor_system();

  // Starts a top-level actor; returns the live one of that kind and name if it exists, and an empty
  // reference if the system is shutting down.
  actor_ref spawn(spawn_options options, std::function<std::unique_ptr<actor>()> make);

  // Stops an actor and its children after their current messages.
  void stop(const actor_ref& target);

  // -- commands of the console; each returns false if the actor has ended ---

  // Stops handling messages until `resume`, at most for `at_most` (bounded by
  // `defaults::longest_pause`). Messages wait in the mailbox within its limit.
  bool pause(const actor_ref& target, duration at_most);
  bool resume(const actor_ref& target);
  // Restarts at once, without back-off: the state is destroyed and created again after the current
  // message. Also returns false if the actor is not restartable.
  bool restart(const actor_ref& target, std::string reason);
  // Crashes it as if its next handler threw `reason`.
  bool kill(const actor_ref& target, std::string reason);
  // Gives the actor its own log (own_log.hpp), from its next run on.
  bool log_level(const actor_ref& target, spdlog::level::level_enum level);

  // Sends a request from outside of actors. `done` runs once, never within this call, on the thread
  // that answers (or the clock's, for a timeout): it must not block, nor wait for a lock that is
  // held while a promise is answered.
  template <class Reply, class T>
  void request(const actor_ref& to, T value, duration timeout,
               unique_function<void(tl::expected<const Reply*, request_error>)> done,
               cause cause = {}) {
    request_message(
        to, message::of(std::move(value)), timeout, cause,
        [done = std::move(done)](const message& reply, const request_error* error) mutable {
          if (error != nullptr) return done(tl::make_unexpected(*error));
          const auto* value = reply.get_if<Reply>();
          if (value == nullptr) return done(tl::make_unexpected(request_error::wrong_reply));
          done(value);
        });
  }

  const clock& time() const noexcept;
  const runtime::directory& actors() const noexcept;
  const runtime::recorder& recorder() const noexcept;

 private:
  friend class simulation;
  void request_message(const actor_ref& to, message content, duration timeout, cause cause,
                       reply_handler done);

  struct impl;
  struct simulated {};
  actor_system(simulated, std::unique_ptr<impl> state);
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::runtime

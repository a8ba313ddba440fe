// A system of actors: threads, clock, directory, and the supervisors at the top.
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

// A handler threw: the actor, the message that it was handling, and when it restarts.
struct crash {
  std::uint64_t id = 0;
  std::string kind;
  std::string name;
  std::string message_type;
  std::string error;
  std::uint32_t restarts = 0;
  duration restart_in{0};  // 0: it is not restarted
};

struct system_options {
  // Threads that run actors; 0 means one for each core, at least two.
  std::size_t threads = 0;
  // Seed of every actor's random source.
  std::uint64_t seed = 0;
  // How long the destructor waits for handlers that are running.
  duration shutdown_grace = defaults::shutdown_grace;
  // Messages are counted by type and recorded (observation.hpp). Without it the directory still
  // tells how many there were; a benchmark compares.
  bool observe = true;
  // Called on the thread of the crashed actor; must not block.
  std::function<void(const crash&)> on_crash;
};

class actor_system {
 public:
  explicit actor_system(system_options options = {});
  actor_system(const actor_system&) = delete;
  actor_system& operator=(const actor_system&) = delete;
  // Ends all actors; waits at most `shutdown_grace` for handlers that are running. One
  // that still runs then is named in the log and left behind with its thread and all that the
  // system owns. Requests that wait fail with `down`. References may outlive the system; sending to
  // them fails.
  ~actor_system();

  // Starts an actor that the system itself supervises; the live one of that kind and name when
  // there is one already. Empty when the system is ending.
  actor_ref spawn(spawn_options options, std::function<std::unique_ptr<actor>()> make);

  // Ends an actor and its children after the message that it is handling.
  void stop(const actor_ref& target);

  // -- by hand, for the console; each is false when the actor has ended ---

  // Handles no mail until `resume`, `at_most` from now (bounded by `defaults::longest_pause`). What
  // comes waits within the limit of the mailbox.
  bool pause(const actor_ref& target, duration at_most);
  bool resume(const actor_ref& target);
  // Restarts at once, without back-off: the state is destroyed and made again after the message
  // that is being handled. False as well for one that is not restarted after a crash.
  bool restart(const actor_ref& target, std::string reason);
  // As if its next handler threw `reason`.
  bool kill(const actor_ref& target, std::string reason);
  // Gives it a log of its own (own_log.hpp), from the next time that it is run.
  bool log_level(const actor_ref& target, spdlog::level::level_enum level);

  // Asks from outside any actor. `done` runs once, never inside of this call, on the thread that
  // answers (or the clock's, for a time-out): it must not block, nor wait for a lock that is held
  // while a promise is answered.
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

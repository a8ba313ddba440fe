// A company of actors: threads, clock, directory, and the supervisors at the top.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "runtime/actor.hpp"
#include "runtime/clock.hpp"
#include "runtime/directory.hpp"

namespace troupe::runtime {

// A handler threw: who, what it was handling, and what becomes of it.
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
  // Called on the thread of the crashed actor; must not block.
  std::function<void(const crash&)> on_crash;
};

class system {
 public:
  explicit system(system_options options);
  system(const system&) = delete;
  system& operator=(const system&) = delete;
  // Ends all actors; waits at most `defaults::shutdown_grace` for handlers that are running.
  ~system();

  // Starts an actor that the system itself supervises.
  actor_ref spawn(spawn_options options, std::function<std::unique_ptr<actor>()> make);

  // Ends an actor and its children after the message that it is handling.
  void stop(const actor_ref& which);

  // Asks from outside any actor. `done` runs on a thread of the system and must not block.
  template <class Reply, class T>
  void request(const actor_ref& to, T value, duration timeout,
               std::function<void(tl::expected<const Reply*, request_error>)> done) {
    request_message(to, message::of(std::move(value)), timeout,
                    [done = std::move(done)](const message& reply, const request_error* error) {
                      if (error != nullptr) return done(tl::make_unexpected(*error));
                      const auto* value = reply.get_if<Reply>();
                      if (value == nullptr)
                        return done(tl::make_unexpected(request_error::wrong_reply));
                      done(value);
                    });
  }

  const clock& time() const noexcept;
  const runtime::directory& actors() const noexcept;

 private:
  friend class simulation;
  friend class system_access;
  using reply_handler = std::function<void(const message&, const request_error*)>;
  void request_message(const actor_ref& to, message content, duration timeout, reply_handler done);

  struct impl;
  explicit system(std::unique_ptr<impl> simulated);
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::runtime

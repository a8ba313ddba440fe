// The base class of all actors: state that is accessed by one message at a time, with a name, a
// supervisor, a clock, and counters for the console.
//
// An actor's functions run on the threads of its system, never two at a time, so its members need
// no lock. They must not block: disk, sockets and processes have threads of their own (worker_pool)
// and answer by message. If a handler throws, the state is destroyed, and after a back-off
// (`defaults::restart_backoff`) the factory given to `spawn` creates a new one; the name, the
// mailbox and the children are kept. The new state is rebuilt in `started()`: an actor is a cache
// of the log.
// `started()`: an actor is a cache of the log.
#pragma once

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "runtime/actor_ref.hpp"
#include "runtime/behavior.hpp"
#include "runtime/clock.hpp"
#include "runtime/message.hpp"
#include "runtime/promise.hpp"
#include "runtime/unique_function.hpp"

namespace troupe::runtime {

class actor_cell;  // the runtime's part of an actor
class actor_system;

// A pending call of a function of the actor that created it. Destroying the timer, or the actor,
// cancels the call. Only functions of that actor may access it.
class timer {
 public:
  timer() = default;
  timer(timer&& other) noexcept
      : cell_{std::exchange(other.cell_, nullptr)}, id_{std::exchange(other.id_, 0)} {}
  timer& operator=(timer&& other) noexcept;
  ~timer() { cancel(); }

  void cancel() noexcept;
  // False once it has fired or was cancelled.
  bool pending() const noexcept;

 private:
  friend class actor;
  timer(actor_cell* owner, std::uint64_t id) noexcept;  // takes a reference
  actor_cell* cell_ = nullptr;
  std::uint64_t id_ = 0;
};

// How to create an actor, and whether it is restarted after a crash.
struct spawn_options {
  // "kind/name" as the console shows it, e.g. kind "pod", name "default/web-x7k2p".
  std::string kind;
  std::string name;
  // False: a crash ends the actor for good (its supervisor sees `child_ended`).
  bool restart = true;
};

// A request that every actor answers with the text of describe(), unless it handles it itself.
struct describe {};
struct description {
  std::string text;
};

// A request that every actor answers with its inner state. If describe() throws, the exception's
// text becomes `state`.
struct inspect {};
struct inspection {
  struct pending_timer {
    duration due_in{0};
    duration period{0};  // 0: it fires once
  };
  std::string state;  // from describe()
  std::vector<pending_timer> timers;
  std::uint64_t requests = 0;  // own requests without an answer yet
  std::uint64_t children = 0;
};

// Sent to the supervisor when a child has ended: by `stop()`, by `stop_child()`, or by a crash
// without restart. A new child may already have its name; `child` distinguishes them.
struct child_ended {
  actor_ref child;
  std::string name;
  std::string reason;  // empty for a normal end
};

class actor {
 public:
  actor(const actor&) = delete;
  actor& operator=(const actor&) = delete;
  virtual ~actor() = default;

  // The dispatch table, shared by all actors of a class.
  virtual const behavior& make_behavior() const = 0;

  // Called before the first message, at every start and restart.
  virtual void started() {}

  // The state as YAML for the console; may be empty. It never contains secrets.
  virtual std::string describe() const { return {}; }

 protected:
  // The functions below may be called from the constructor on.
  actor();

  actor_ref self() const;
  actor_system& system() const;
  const std::string& name() const;

  // The cause of the current message; messages sent from now on inherit it.
  const cause& current_cause() const noexcept;
  void current_cause(cause changed) noexcept;
  actor_ref sender() const;

  time_point now() const noexcept;
  wall_time wall_now() const noexcept;
  // Seeded with the system's seed and the actor's name, so that a simulation is deterministic.
  std::mt19937_64& random() noexcept;

  template <class T>
  bool tell(const actor_ref& to, T value) const {
    return send(to, message::of(std::move(value)));
  }
  bool send(const actor_ref& to, message content) const;

  // Sends a request without blocking. `done` runs in this actor with the reply or the error,
  // exactly once, unless this actor restarts or ends first. Every request has a timeout.
  template <class Reply, class T, class F>
  void request(const actor_ref& to, T value, duration timeout, F done) {
    request_message(
        to, message::of(std::move(value)), timeout,
        [done = std::move(done)](const message& reply, const request_error* error) mutable {
          if (error != nullptr) {
            done(tl::expected<const Reply*, request_error>{tl::make_unexpected(*error)});
          } else if (const auto* value = reply.get_if<Reply>()) {
            done(tl::expected<const Reply*, request_error>{value});
          } else {
            done(tl::expected<const Reply*, request_error>{
                tl::make_unexpected(request_error::wrong_reply)});
          }
        });
  }

  // Calls `action` in this actor after `delay`, unless the timer is destroyed first. Delays of 5 s
  // and more end up to 50 ms late (defaults::coalesced_delay). `every` keeps the grid of its first
  // call and skips overdue calls.
  [[nodiscard]] timer after(duration delay, unique_function<void()> action);
  [[nodiscard]] timer every(duration period, unique_function<void()> action);

  // Starts a child that this actor supervises. `make` is called again for each restart. Children
  // end with their supervisor, but survive its restart and are found by `child`. If a live child of
  // that kind and name exists, it is returned unchanged and `make` is ignored: `started()` may
  // spawn all its children again after a restart.
  actor_ref spawn(spawn_options options, std::function<std::unique_ptr<actor>()> make);
  // The live child of that kind and name; empty if there is none.
  actor_ref child(const std::string& kind, const std::string& name) const;
  // Stops a child after its current message; its name is free at once.
  void stop_child(const actor_ref& child);

  // Stops this actor after the current message.
  void stop();

 private:
  friend class actor_cell;
  friend class timer;
  void request_message(const actor_ref& to, message content, duration timeout, reply_handler done);

  actor_cell* cell_ = nullptr;
};

// Creates a factory for spawn() from a class and constructor arguments, which are
// copied.
template <class A, class... Args>
std::function<std::unique_ptr<actor>()> make(Args... args) {
  return [args...]() -> std::unique_ptr<actor> { return std::make_unique<A>(args...); };
}

}  // namespace troupe::runtime

// The actor cell: the CAF actor behind one of our actors, with its mailbox, current state,
// supervisor, children, timers and requests, and its restarts after crashes.
//
// It derives from CAF's base class of all actors, not from event_based_actor: one message type, no
// behaviour stack, skipped messages, streams, monitors or links, and so half of the memory and half
// of the instructions for a message. CAF provides identity and reference counts.
//
// Functions may be called only by the thread that runs the cell, unless stated otherwise.
#pragma once

#include <spdlog/logger.h>

#include <atomic>
#include <caf/abstract_actor.hpp>
#include <caf/resumable.hpp>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "runtime/actor.hpp"
#include "runtime/detail/access.hpp"
#include "runtime/detail/actor_stats.hpp"
#include "runtime/detail/children.hpp"
#include "runtime/detail/mailbox.hpp"
#include "runtime/detail/meter.hpp"
#include "runtime/detail/pending_calls.hpp"
#include "runtime/directory.hpp"

namespace troupe::runtime {

struct system_core;

class actor_cell final : public caf::abstract_actor, public caf::resumable, public timer_target {
 public:
  using factory = std::function<std::unique_ptr<actor>()>;
  enum class post_result { taken, down, full };
  // Represents all senders outside of actors; `system_core::outside` gets its replies.
  static constexpr caf::actor_id gateway_id = ~caf::actor_id{0};

  static actor_cell* of(const actor& state) noexcept { return state.cell_; }

  actor_cell(caf::actor_config& config, std::shared_ptr<system_core> shared, spawn_options options,
             factory make, actor_ref parent);
  ~actor_cell() override;

  // -- any thread ---

  post_result post(message content, const actor_ref& sender, cause cause, std::uint64_t request);
  // The reply to a request of this cell; not subject to the mailbox limit.
  void post_reply(std::uint64_t request, message reply, std::optional<request_error> error,
                  cause cause);
  // A child has ended; not subject to the mailbox limit.
  void post_child_ended(child_ended event);
  // Puts a new cell on the run queue for the first time.
  void schedule();
  void request_stop();
  enum class fate : std::uint8_t { restart, crash };
  // Commands (actor_cell_commands.cpp); false if the actor has ended or cannot be restarted.
  bool command(fate wanted, std::string reason);
  bool pause(duration at_most);
  bool unpause();
  bool log_level(spdlog::level::level_enum level);
  bool ending() const noexcept { return stopping_.load(std::memory_order_relaxed); }
  const spawn_options& options() const noexcept { return options_; }
  // Prefetches what the next step reads: called before a reference is taken, before row(), and in
  // between.
  void expect_reference() const noexcept { __builtin_prefetch(ctrl(), 1); }
  void expect_row() const noexcept;
  void expect_name() const noexcept { __builtin_prefetch(options_.name.data()); }
  // Fills all of `info`, whose strings reuse their memory from row to row.
  void row(double nanoseconds_per_tick, actor_info& info) const;
  void detail(double nanoseconds_per_tick, actor_detail& into) const;
  void release() noexcept;

  void retain() noexcept override;
  void due(std::uint64_t id) noexcept override;

  // -- for the actor ---

  system_core& shared() const noexcept { return *core_; }
  const cause& current_cause() const noexcept { return cause_; }
  void current_cause(cause changed) noexcept { cause_ = changed; }
  actor_ref sender() const;
  std::mt19937_64& random();
  bool send(const actor_ref& to, message content);
  void request(const actor_ref& to, message content, duration timeout, reply_handler done);
  std::uint64_t arm(duration delay, duration period, timer_action action);
  std::uint64_t await_restart(const actor_ref& other, timer_action action);
  void cancel(std::uint64_t id) noexcept;
  bool pending(std::uint64_t id) const noexcept;
  actor_ref spawn(spawn_options options, factory make);
  const runtime::children* children() const noexcept { return children_.get(); }
  void stop_child(const actor_ref& child);
  void stop_self() noexcept { stopping_.store(true, std::memory_order_relaxed); }

  // -- for CAF ---

  resume_result resume(caf::execution_unit* unit, std::size_t max_messages) override;
  void intrusive_ptr_add_ref_impl() override { retain(); }
  void intrusive_ptr_release_impl() override { release(); }
  // No CAF actor knows a cell: none sends it CAF messages, monitors it or links to it.
  void enqueue(caf::mailbox_element_ptr, caf::execution_unit*) override {}
  void attach(caf::attachable_ptr) override {}
  std::size_t detach(const caf::attachable::token&) override { return 0; }
  void add_link(caf::abstract_actor*) override {}
  void remove_link(caf::abstract_actor*) override {}
  bool add_backlink(caf::abstract_actor*) override { return false; }
  bool remove_backlink(caf::abstract_actor*) override { return false; }

 private:
  enum class phase : std::uint8_t { fresh, running, backing_off, ended };
  // Allocated at the first crash: most actors never crash.
  struct crashes {
    timer_node restart;
    std::uint32_t restarts = 0;
    std::string last_error;
    duration wait{0};
    time_point last;
    std::vector<restart_record> records;  // the newest last
  };
  // Allocated at the first command: few actors get one. Guarded by mtx_.
  struct commands {
    timer_node pause_ends;
    std::optional<fate> wanted;
    std::string reason;
    std::shared_ptr<spdlog::logger> log;
  };
  // Observers of the next restart, by id: the actor and its pending call. Guarded by mtx_.
  struct restart_observers {
    std::map<std::uint64_t, std::pair<actor_ref, std::uint64_t>> all;
    std::size_t sweep_at = 64;  // at this size ended observers are removed
  };
  // The id of `due` at the end of a pause; ids of pending calls never equal it.
  static constexpr std::uint64_t pause_id = ~std::uint64_t{0};

  bool push(std::unique_ptr<envelope> e);
  void wake();

  // -- life cycle (actor_cell_life.cpp) ---
  void start();
  void crashed(std::string error, std::string_view during);
  crashes& open_crashes();  // under mtx_
  void record_restart(crashes& history, std::string_view during) const;
  // -- commands (actor_cell_commands.cpp) ---
  commands* open_commands();
  void execute_command();
  void end_commands();
  void add_crashes(actor_info& info) const;
  void destroy_state() noexcept;
  void end();
  void add_restart_observer(const actor_ref& observer, std::uint64_t id);
  std::unique_ptr<restart_observers> take_restart_observers();
  void notify_restart_observers();
  template <class F>
  void attempt(const message_type& during, F f);

  // -- messages (actor_cell.cpp) ---
  void handle(envelope& e);
  void on_mail(envelope& e);
  void on_reply(envelope& e);
  void on_timer(envelope& e);
  void on_unhandled(envelope& e, promise_base& answer);
  inspection inspect_self() const;
  void observe(const envelope& e, const message_type& type);
  void log_handled(const envelope& e, const message_type& type) const;

  // Members written by other threads come first, apart from those that the owner reads.
  mailbox mailbox_;
  meter meter_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> restart_due_{false};
  std::atomic<bool> paused_{false};
  std::atomic<bool> commanded_{false};
  std::atomic<spdlog::logger*> log_{nullptr};  // owned by commands_
  std::atomic<bool> has_crashed_{false};       // crashes_ exists, for row()
  std::atomic<bool> backing_off_{false};       // phase_ is backing_off, for other threads
  phase phase_ = phase::fresh;
  bool unhandled_logged_ = false;  // the warning about an unhandled message

  std::unique_ptr<actor> state_;
  const behavior* table_ = nullptr;
  actor_stats stats_;
  cause cause_;
  cause spawn_cause_;
  const actor_ref* sender_ = nullptr;
  const std::shared_ptr<system_core> core_;

  std::unique_ptr<pending_calls> calls_;
  std::unique_ptr<runtime::children> children_;
  std::unique_ptr<std::mt19937_64> random_;
  std::unique_ptr<crashes> crashes_;  // changes under mtx_, for row()
  std::unique_ptr<commands> commands_;
  std::unique_ptr<restart_observers> observers_;
  bool commands_closed_ = false;  // guarded by mtx_
  const spawn_options options_;
  factory make_;
  actor_ref parent_;
  const std::uint64_t parent_id_;
  const time_point created_;
};

// Thread-local state while a cell creates or destroys an actor.
struct this_thread {
  // The cell whose actor is being constructed.
  static thread_local actor_cell* constructing;
  // A state is being destroyed because its actor ends: its promises fail with "down".
  static thread_local bool ending;
  // The running cell's own log.
  static thread_local spdlog::logger* log;
};

}  // namespace troupe::runtime

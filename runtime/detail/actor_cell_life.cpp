// The life cycle of a cell (start, crash, restart after a back-off, end) and its children.
#include <algorithm>
#include <caf/actor_config.hpp>
#include <new>
#include <stdexcept>

#include "runtime/defaults.hpp"
#include "runtime/detail/actor_cell.hpp"
#include "runtime/detail/system_core.hpp"

namespace troupe::runtime {

namespace {

// Pseudo message type that the console shows during a start.
struct start {};
// A request of the actor that failed.
struct request_failed {};

const message_type& type_of(const envelope& e) {
  if (e.content) return e.content.type();
  return e.kind == envelope_kind::reply ? message_type::of<request_failed>()
                                        : message_type::of<timer>();
}

}  // namespace

actor_cell::actor_cell(caf::actor_config& config, std::shared_ptr<system_core> shared,
                       spawn_options options, factory make, actor_ref parent)
    : caf::abstract_actor{config},
      core_{std::move(shared)},
      options_{std::move(options)},
      make_{std::move(make)},
      parent_{std::move(parent)},
      parent_id_{parent_.id()},
      created_{core_->time->now()} {}

template <class F>
void actor_cell::attempt(const message_type& during, F f) {
  meter_.handling(&during);
  std::string error;
  try {
    f();
    return;
  } catch (const std::bad_alloc&) {
    error = "out of memory";  // short enough for no allocation
  } catch (const std::exception& e) {
    error = e.what();
  } catch (...) {
    error = "something that is not an exception";
  }
  crashed(std::move(error), during.name());
}

void actor_cell::start() {
  const bool again = phase_ != phase::fresh;
  phase_ = phase::running;
  backing_off_.store(false, std::memory_order_relaxed);
  // The cause of a start is that of the message that the supervisor was handling.
  cause_ = std::exchange(spawn_cause_, {});
  attempt(message_type::of<runtime::start>(), [this] {
    this_thread::constructing = this;
    state_ = make_();
    this_thread::constructing = nullptr;
    if (!state_) throw std::logic_error{"the factory of the actor returned null"};
    state_->cell_ = this;
    table_ = &state_->make_behavior();
    state_->started();
  });
  this_thread::constructing = nullptr;
  meter_.finished();
  if (again && phase_ == phase::running) notify_restart_observers();
}

void actor_cell::handle(envelope& e) {
  cause_ = e.cause;
  sender_ = &e.sender;
  const auto& type = type_of(e);
  attempt(type, [&] {
    switch (e.kind) {
      case envelope_kind::child:
        if (children_) children_->remove(e.sender);
        [[fallthrough]];
      case envelope_kind::mail:
        on_mail(e);
        break;
      case envelope_kind::reply:
        on_reply(e);
        break;
      case envelope_kind::timer:
        on_timer(e);
        break;
      case envelope_kind::wake:
        break;
    }
  });
  sender_ = nullptr;
  if (this_thread::log != nullptr) log_handled(e, type);
  if (core_->options.observe) {
    observe(e, type);
  } else {
    meter_.handled_one();
  }
  cause_ = {};
}

void actor_cell::observe(const envelope& e, const message_type& type) {
  const auto began = meter_.since();
  meter_.handled_one();
  const auto ended = meter_.since();
  const auto took = ended > began ? ended - began : 0;
  // A timer has no cause of its own, but its action may have set one.
  stats_.received(type, began, took, cause_);
  const auto sender = e.sender.id();
  core_->recorder.add({.began = began,
                       .waited = e.at != 0 && began > e.at ? began - e.at : 0,
                       .took = took,
                       .receiver = id(),
                       .sender = sender == gateway_id ? 0 : sender,
                       .type = &type,
                       .cause = cause_});
}

void actor_cell::log_handled(const envelope& e, const message_type& type) const {
  const auto* const from = access::cell_of(e.sender);
  if (from == nullptr || e.sender.id() == gateway_id)
    return this_thread::log->debug("handled {}, revision {}", type.name(), cause_.revision);
  this_thread::log->debug("handled {} from {}/{}, revision {}", type.name(), from->options_.kind,
                          from->options_.name, cause_.revision);
}

void actor_cell::crashed(std::string error, std::string_view during) {
  sender_ = nullptr;
  destroy_state();
  const auto now = core_->time->now();
  crash report{id(), options_.kind, options_.name, std::string{during}, std::move(error)};
  {
    std::lock_guard lock{mtx_};
    auto& c = open_crashes();
    const bool calm = c.wait == duration::zero() || now - c.last >= defaults::restart_calm;
    c.wait = calm ? defaults::restart_backoff : std::min(c.wait * 2, defaults::restart_backoff_max);
    c.last = now;
    c.last_error = report.error;
    record_restart(c, during);
    if (options_.restart) report.restarts = ++c.restarts;
  }
  if (options_.restart) {
    phase_ = phase::backing_off;
    backing_off_.store(true, std::memory_order_relaxed);
    report.restart_in = crashes_->wait;
    crashes_->restart.target = this;
    core_->timers.add(crashes_->restart, now + crashes_->wait);
  } else {
    stop_self();
  }
  core_->report(report);
}

void actor_cell::record_restart(crashes& history, std::string_view during) const {
  if (history.records.size() == defaults::restarts_kept)
    history.records.erase(history.records.begin());
  history.records.push_back({core_->time->wall_now(), std::string{during}, history.last_error});
}

actor_cell::crashes& actor_cell::open_crashes() {
  if (!crashes_) {
    crashes_ = std::make_unique<crashes>();
    has_crashed_.store(true, std::memory_order_release);
  }
  return *crashes_;
}

void actor_cell::add_crashes(actor_info& info) const {
  info.restarts = 0;
  info.last_error.clear();
  if (!has_crashed_.load(std::memory_order_acquire)) return;
  std::lock_guard lock{mtx_};
  if (!crashes_) return;
  info.restarts = crashes_->restarts;
  info.last_error = crashes_->last_error;
}

void actor_cell::destroy_state() noexcept {
  // Cleared, not replaced: ids continue, so that a pending deadline or reply of this incarnation
  // finds nothing in the next one.
  if (calls_) calls_->clear();
  state_.reset();
  if (calls_) calls_->clear();  // calls made by the destructor of the state
  table_ = nullptr;
}

void actor_cell::end() {
  const bool crashed_for_good = !options_.restart && crashes_;
  phase_ = phase::ended;
  if (crashes_) core_->timers.remove(crashes_->restart);
  end_commands();
  this_thread::ending = true;
  destroy_state();
  calls_.reset();
  mailbox_.close([](envelope& e) {
    if (e.id != 0 && e.kind == envelope_kind::mail) {
      promise_base{e.sender, e.id, e.cause}.fail(request_error::down);
    }
  });
  this_thread::ending = false;
  if (children_) children_->each([](const actor_ref& c) { access::cell_of(c)->request_stop(); });
  children_.reset();
  take_restart_observers();
  random_.reset();
  make_ = nullptr;
  core_->actors.leave(*this);
  const auto self = access::share(*this);
  if (auto* parent = access::cell_of(parent_)) {
    parent->post_child_ended(
        {self, options_.name, crashed_for_good ? crashes_->last_error : std::string{}});
    parent_ = {};
  } else {
    core_->top_ended(self);
  }
  core_->ended();
}

// -- observers of a restart ---

void actor_cell::add_restart_observer(const actor_ref& observer, std::uint64_t id) {
  std::vector<actor_ref> dropped;  // released without the lock
  std::lock_guard lock{mtx_};
  if (!observers_) observers_ = std::make_unique<restart_observers>();
  auto& all = observers_->all;
  all.insert_or_assign(observer.id(), std::pair{observer, id});
  if (all.size() < observers_->sweep_at) return;
  std::erase_if(all, [&](auto& entry) {
    if (!access::cell_of(entry.second.first)->ending()) return false;
    dropped.push_back(std::move(entry.second.first));
    return true;
  });
  observers_->sweep_at = std::max(observers_->sweep_at, 2 * all.size());
}

std::unique_ptr<actor_cell::restart_observers> actor_cell::take_restart_observers() {
  std::lock_guard lock{mtx_};
  return std::move(observers_);
}

// An observer that has ended ignores it.
void actor_cell::notify_restart_observers() {
  const auto observers = take_restart_observers();
  if (!observers) return;
  for (const auto& [id, observer] : observers->all) {
    auto* cell = access::cell_of(observer.first);
    cell->retain();
    cell->due(observer.second);
  }
}

// -- children ---

actor_ref actor_cell::spawn(spawn_options options, factory make) {
  if (!children_) children_ = std::make_unique<runtime::children>();
  if (auto alive = children_->find(options.kind, options.name)) return alive;
  auto child = core_->make_cell(std::move(options), std::move(make), access::share(*this));
  children_->add(child);
  access::cell_of(child)->spawn_cause_ = cause_;
  access::cell_of(child)->schedule();
  return child;
}

void actor_cell::stop_child(const actor_ref& child) {
  if (children_ && children_->remove(child)) access::cell_of(child)->request_stop();
}

}  // namespace troupe::runtime

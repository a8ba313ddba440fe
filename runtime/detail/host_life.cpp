// The life of a host: start, crash, restart after a back-off, end; and its children.
#include <caf/actor_config.hpp>
#include <caf/exit_reason.hpp>
#include <new>
#include <stdexcept>

#include "runtime/defaults.hpp"
#include "runtime/detail/core.hpp"
#include "runtime/detail/host.hpp"

namespace troupe::runtime {

namespace {

// What the console shows while no message is being handled.
struct start {};
// A request of the actor that was answered by an error.
struct request_failed {};

const message_type& type_of(const envelope& e) {
  if (e.content) return e.content.type();
  return e.kind == envelope_kind::reply ? message_type::of<request_failed>()
                                        : message_type::of<timer>();
}

}  // namespace

host::host(caf::actor_config& config, std::shared_ptr<core> shared, spawn_options options,
           factory make, actor_ref parent)
    : caf::monitorable_actor{config},
      core_{std::move(shared)},
      options_{std::move(options)},
      make_{std::move(make)},
      parent_{std::move(parent)},
      parent_id_{parent_.id()},
      born_{core_->time->now()} {}

template <class F>
void host::attempt(const message_type& during, F f) {
  meter_.handling(&during);
  std::string error;
  try {
    f();
    return;
  } catch (const std::bad_alloc&) {
    error = "out of memory";  // short enough to need none
  } catch (const std::exception& e) {
    error = e.what();
  } catch (...) {
    error = "something that is not an exception";
  }
  crashed(std::move(error), during.name());
}

void host::start() {
  phase_ = phase::running;
  resting_.store(false, std::memory_order_relaxed);
  // What an actor does at first is caused by what its supervisor was handling when it made it.
  why_ = std::exchange(born_why_, {});
  attempt(message_type::of<runtime::start>(), [this] {
    this_thread::constructing = this;
    state_ = make_();
    this_thread::constructing = nullptr;
    if (!state_) throw std::logic_error{"the function that makes the actor returned none"};
    state_->host_ = this;
    table_ = &state_->make_behavior();
    state_->started();
  });
  this_thread::constructing = nullptr;
  meter_.finished();
}

void host::handle(envelope& e) {
  why_ = e.why;
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
  if (this_thread::voice != nullptr) say_handled(e, type);
  if (core_->options.observe) {
    observe(e, type);
  } else {
    meter_.handled_one();
  }
  why_ = {};
}

void host::observe(const envelope& e, const message_type& type) {
  const auto began = meter_.since();
  meter_.handled_one();
  const auto ended = meter_.since();
  const auto took = ended > began ? ended - began : 0;
  // A timer has no cause of its own; what its function found out is one.
  ledger_.received(type, began, took, why_);
  const auto sender = e.sender.id();
  core_->recorder.add({.began = began,
                       .waited = e.at != 0 && began > e.at ? began - e.at : 0,
                       .took = took,
                       .receiver = id(),
                       .sender = sender == gateway_id ? 0 : sender,
                       .type = &type,
                       .why = why_});
}

void host::say_handled(const envelope& e, const message_type& type) const {
  const auto* const from = access::host_of(e.sender);
  if (from == nullptr || e.sender.id() == gateway_id)
    return this_thread::voice->debug("handled {}, revision {}", type.name(), why_.revision);
  this_thread::voice->debug("handled {} from {}/{}, revision {}", type.name(), from->options_.kind,
                            from->options_.name, why_.revision);
}

void host::crashed(std::string error, std::string_view during) {
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
    keep_reason(c, during);
    if (options_.restart) report.restarts = ++c.restarts;
  }
  if (options_.restart) {
    phase_ = phase::backing_off;
    resting_.store(true, std::memory_order_relaxed);
    report.restart_in = crashes_->wait;
    crashes_->restart.target = this;
    core_->timers.add(crashes_->restart, now + crashes_->wait);
  } else {
    stop_self();
  }
  core_->report(report);
}

void host::keep_reason(crashes& of, std::string_view during) const {
  if (of.kept.size() == defaults::restarts_kept) of.kept.erase(of.kept.begin());
  of.kept.push_back({core_->time->wall_now(), std::string{during}, of.last_error});
}

host::crashes& host::open_crashes() {
  if (!crashes_) {
    crashes_ = std::make_unique<crashes>();
    has_crashed_.store(true, std::memory_order_release);
  }
  return *crashes_;
}

void host::add_crashes(actor_info& info) const {
  info.restarts = 0;
  info.last_error.clear();
  if (!has_crashed_.load(std::memory_order_acquire)) return;
  std::lock_guard lock{mtx_};
  if (!crashes_) return;
  info.restarts = crashes_->restarts;
  info.last_error = crashes_->last_error;
}

void host::destroy_state() noexcept {
  // Emptied, not replaced: its ids go on, so that a deadline or an answer that is still under way
  // to this life finds nothing in the next.
  if (calls_) calls_->clear();
  state_.reset();
  if (calls_) calls_->clear();  // what the destructor of the state asked for
  table_ = nullptr;
}

void host::end() {
  const bool crashed_for_good = !options_.restart && crashes_;
  phase_ = phase::ended;
  if (crashes_) core_->timers.remove(crashes_->restart);
  end_orders();
  this_thread::ending = true;
  destroy_state();
  calls_.reset();
  mailbox_.close([](envelope& e) {
    if (e.id != 0 && e.kind == envelope_kind::mail) {
      promise_base{e.sender, e.id, e.why}.fail(request_error::down);
    }
  });
  this_thread::ending = false;
  if (children_) children_->each([](const actor_ref& c) { access::host_of(c)->request_stop(); });
  children_.reset();
  random_.reset();
  make_ = nullptr;
  core_->actors.leave(*this);
  cleanup(caf::make_error(crashed_for_good ? caf::exit_reason::unhandled_exception
                                           : caf::exit_reason::normal),
          nullptr);
  const auto self = access::share(*this);
  if (auto* parent = access::host_of(parent_)) {
    parent->post_child_ended(
        {self, options_.name, crashed_for_good ? crashes_->last_error : std::string{}});
    parent_ = {};
  } else {
    core_->top_ended(self);
  }
  core_->ended();
}

// -- children ---

actor_ref host::spawn(spawn_options options, factory make) {
  if (!children_) children_ = std::make_unique<runtime::children>();
  if (auto alive = children_->find(options.kind, options.name)) return alive;
  auto child = core_->make_host(std::move(options), std::move(make), access::share(*this));
  children_->add(child);
  access::host_of(child)->born_why_ = why_;
  access::host_of(child)->schedule();
  return child;
}

void host::stop_child(const actor_ref& which) {
  if (children_ && children_->remove(which)) access::host_of(which)->request_stop();
}

}  // namespace troupe::runtime

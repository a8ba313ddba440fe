// The message handling of a cell: posting, handling and sending.
#include "runtime/detail/actor_cell.hpp"

#include <algorithm>
#include <caf/actor_config.hpp>

#include "runtime/defaults.hpp"
#include "runtime/detail/log.hpp"
#include "runtime/detail/system_core.hpp"
#include "runtime/own_log.hpp"

#if defined(TROUPE_TSAN)
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace troupe::runtime {

namespace {

duration bounded(duration delay) noexcept {
  return std::clamp(delay, duration::zero(), defaults::longest_delay);
}

struct own_log_scope {
  explicit own_log_scope(spdlog::logger* own) noexcept { this_thread::log = own; }
  ~own_log_scope() { this_thread::log = nullptr; }
};

// The same on every machine, unlike std::hash.
std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325) noexcept {
  for (const unsigned char c : text)
    hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

}  // namespace

thread_local actor_cell* this_thread::constructing = nullptr;
thread_local bool this_thread::ending = false;
thread_local spdlog::logger* this_thread::log = nullptr;

spdlog::logger* own_log() noexcept {
  return this_thread::log;
}

actor_ref access::share(actor_cell& h) noexcept {
  h.retain();
  actor_ref ref;
  ref.cell_ = &h;
  return ref;
}

// -- references ---

// CAF's library counts references with atomics that ThreadSanitizer cannot see, because Debian's
// build is not instrumented: the two annotations describe them.
void actor_cell::retain() noexcept {
  caf::intrusive_ptr_add_ref(ctrl());
}

void actor_cell::release() noexcept {
#if defined(TROUPE_TSAN)
  __tsan_release(this);
#endif
  caf::intrusive_ptr_release(ctrl());
}

actor_cell::~actor_cell() {
#if defined(TROUPE_TSAN)
  __tsan_acquire(this);
#endif
}

// -- posting, from any thread ---

actor_cell::post_result actor_cell::post(message content, const actor_ref& sender, cause cause,
                                         std::uint64_t request) {
  if (ending() || !content) return post_result::down;
  if (meter_.waiting() >= defaults::mailbox_limit) return post_result::full;
  auto e = std::make_unique<envelope>();
  e->content = std::move(content);
  e->sender = sender;
  e->cause = cause;
  e->id = request;
  return push(std::move(e)) ? post_result::taken : post_result::down;
}

void actor_cell::post_reply(std::uint64_t request, message reply,
                            std::optional<request_error> error, cause cause) {
  if (id() == gateway_id) {
    core_->external.complete(request, reply, error);
    return;
  }
  auto e = std::make_unique<envelope>();
  e->kind = envelope_kind::reply;
  e->content = std::move(reply);
  e->error = error;
  e->cause = cause;
  e->id = request;
  push(std::move(e));
}

void actor_cell::post_child_ended(child_ended event) {
  auto e = std::make_unique<envelope>();
  e->kind = envelope_kind::child;
  e->sender = event.child;
  e->content = message::of(std::move(event));
  push(std::move(e));
}

void actor_cell::due(std::uint64_t id) noexcept {
  if (id == 0) {
    restart_due_.store(true);
    wake();
  } else if (id == pause_id) {
    unpause();
  } else {
    auto e = std::make_unique<envelope>();
    e->kind = envelope_kind::timer;
    e->id = id;
    push(std::move(e));
  }
  release();
}

void actor_cell::request_stop() {
  if (!stopping_.exchange(true)) wake();
}

void actor_cell::wake() {
  auto e = std::make_unique<envelope>();
  e->kind = envelope_kind::wake;
  if (mailbox_.push(std::move(e)) == mailbox::push_result::woke_owner) schedule();
}

bool actor_cell::push(std::unique_ptr<envelope> e) {
  meter_.count_received();
  const auto posted = core_->options.observe ? ticks() : 0;
  e->at = posted;
  switch (mailbox_.push(std::move(e))) {
    case mailbox::push_result::taken:
      return true;
    case mailbox::push_result::woke_owner:
      meter_.oldest(posted);
      schedule();
      return true;
    case mailbox::push_result::closed:
      break;
  }
  return false;
}

void actor_cell::schedule() {
  retain();
  core_->jobs->push(this);
}

// -- handling ---

caf::resumable::resume_result actor_cell::resume(caf::execution_unit*, std::size_t max_messages) {
  meter_.resumed();
  const own_log_scope own{log_.load(std::memory_order_acquire)};
  auto budget = max_messages;
  if (phase_ == phase::fresh && !ending()) {
    start();
    --budget;
  }
  for (;;) {
    if (ending()) {
      end();
      return done;
    }
    if (commanded_.load(std::memory_order_relaxed)) execute_command();
    if (phase_ == phase::backing_off && restart_due_.exchange(false)) {
      start();
      continue;
    }
    if (ending()) continue;
    if (phase_ == phase::backing_off || paused_.load()) {
      mailbox_.fetch();
      if (mailbox_.try_block()) return awaiting_message;
      continue;
    }
    const auto* first = mailbox_.front();
    if (first == nullptr) {
      if (mailbox_.try_block()) return awaiting_message;
      continue;
    }
    if (budget == 0) return resume_later;
    auto e = mailbox_.pop();
    if (e->at != 0)
      meter_.oldest(mailbox_.taken_first() ? mailbox_.taken_first()->at : meter_.since());
    if (e->kind == envelope_kind::wake) continue;
    --budget;
    handle(*e);
  }
}

void actor_cell::on_mail(envelope& e) {
  promise_base answer;
  if (e.id != 0) answer = promise_base{e.sender, e.id, e.cause};
  if (core_->observing != nullptr) core_->observing->before(*this, e);
  if (!table_->dispatch(*state_, e.content, answer)) on_unhandled(e, answer);
}

void actor_cell::on_reply(envelope& e) {
  const auto call = calls_ ? calls_->take(e.id) : nullptr;
  if (!call) return;
  if (core_->observing != nullptr) core_->observing->before(*this, e);
  std::get<reply_handler>(call->action)(e.content, e.error ? &*e.error : nullptr);
}

void actor_cell::on_timer(envelope& e) {
  auto* call = calls_ ? calls_->find(e.id) : nullptr;
  if (call == nullptr) return;
  if (core_->observing != nullptr) core_->observing->before(*this, e);
  if (std::holds_alternative<reply_handler>(call->action)) {
    const auto taken = calls_->take(e.id);
    const auto error = request_error::timeout;
    cause_ = taken->cause;
    std::get<reply_handler>(taken->action)({}, &error);
    return;
  }
  if (call->period == duration::zero()) {
    const auto taken = calls_->take(e.id);
    std::get<timer_action>(taken->action)();
    return;
  }
  // The action may cancel its own timer: it is kept here while it runs.
  auto action = std::move(std::get<timer_action>(call->action));
  action();
  call = calls_->find(e.id);
  if (call == nullptr) return;
  call->action = std::move(action);
  calls_->rearm(*call, next_on_grid(call->due, call->period, core_->time->now()));
}

inspection actor_cell::inspect_self() const {
  inspection seen;
  try {
    seen.state = state_->describe();
  } catch (const std::exception& problem) {
    seen.state = std::string{"describe() threw: "} + problem.what() + "\n";
  }
  if (children_) seen.children = children_->size();
  if (!calls_) return seen;
  const auto now = core_->time->now();
  calls_->each([&](const pending_call& call) {
    if (std::holds_alternative<reply_handler>(call.action)) {
      ++seen.requests;
    } else if (call.due != pending_call::no_deadline &&
               seen.timers.size() < defaults::timers_shown) {
      seen.timers.push_back({call.due - now, call.period});
    }
  });
  return seen;
}

void actor_cell::on_unhandled(envelope& e, promise_base& answer) {
  if (e.content.get_if<inspect>() != nullptr) {
    promise<inspection>{std::move(answer)}.deliver(inspect_self());
    return;
  }
  if (e.content.get_if<describe>() != nullptr) {
    promise<description>{std::move(answer)}.deliver({state_->describe()});
    return;
  }
  if (answer.pending()) answer.fail(request_error::unhandled);
  if (e.kind == envelope_kind::child || std::exchange(unhandled_logged_, true)) return;
  log().warn("{} {}: no handler for message {} (logged once for each actor)", options_.kind,
             options_.name, e.content.type().name());
}

// -- for the actor ---

actor_ref actor_cell::sender() const {
  if (sender_ == nullptr || sender_->id() == gateway_id) return {};
  return *sender_;
}

std::mt19937_64& actor_cell::random() {
  if (!random_) {
    // With the id: an actor that is spawned again under an old name must not repeat uids.
    const auto own = fnv1a(options_.name, fnv1a("/", fnv1a(options_.kind)));
    std::seed_seq seeds{core_->options.seed, core_->options.seed >> 32, own, own >> 32,
                        static_cast<std::uint64_t>(id())};
    random_ = std::make_unique<std::mt19937_64>(seeds);
  }
  return *random_;
}

bool actor_cell::send(const actor_ref& to, message content) {
  auto* receiver = access::cell_of(to);
  if (core_->options.observe && content) stats_.sent(content.type());
  return receiver != nullptr &&
         receiver->post(std::move(content), access::share(*this), cause_, 0) == post_result::taken;
}

void actor_cell::request(const actor_ref& to, message content, duration timeout,
                         reply_handler done) {
  if (!calls_) calls_ = std::make_unique<pending_calls>(core_->timers);
  if (core_->options.observe && content) stats_.sent(content.type());
  auto call = std::make_unique<pending_call>();
  call->action = std::move(done);
  call->due = core_->time->now() + bounded(timeout);
  call->cause = cause_;
  const auto id = calls_->add(*this, std::move(call));
  auto* receiver = access::cell_of(to);
  const auto result = receiver == nullptr
                          ? post_result::down
                          : receiver->post(std::move(content), access::share(*this), cause_, id);
  if (result == post_result::taken) return;
  post_reply(id, {},
             result == post_result::full ? request_error::mailbox_full : request_error::down,
             cause_);
}

std::uint64_t actor_cell::arm(duration delay, duration period, timer_action action) {
  if (!calls_) calls_ = std::make_unique<pending_calls>(core_->timers);
  auto call = std::make_unique<pending_call>();
  call->action = std::move(action);
  call->due = timer_due(core_->time->now(), bounded(delay));
  call->period = bounded(period);
  return calls_->add(*this, std::move(call));
}

std::uint64_t actor_cell::await_restart(const actor_ref& other, timer_action action) {
  if (!calls_) calls_ = std::make_unique<pending_calls>(core_->timers);
  auto call = std::make_unique<pending_call>();
  call->action = std::move(action);
  call->due = pending_call::no_deadline;
  const auto id = calls_->add(*this, std::move(call));
  if (auto* observed = access::cell_of(other))
    observed->add_restart_observer(access::share(*this), id);
  return id;
}

void actor_cell::cancel(std::uint64_t id) noexcept {
  if (calls_) calls_->take(id);
}

bool actor_cell::pending(std::uint64_t id) const noexcept {
  return calls_ && calls_->find(id) != nullptr;
}

void actor_cell::expect_row() const noexcept {
  constexpr std::size_t line = 64;
  const auto* begin = reinterpret_cast<const char*>(this);
  for (std::size_t at = 0; at < sizeof(actor_cell); at += line)
    __builtin_prefetch(begin + at);
}

void actor_cell::row(double nanoseconds_per_tick, actor_info& info) const {
  const auto time = [&](tick_count t) {
    return duration{static_cast<std::int64_t>(static_cast<double>(t) * nanoseconds_per_tick)};
  };
  info.id = id();
  info.parent = parent_id_;
  info.kind = options_.kind;
  info.name = options_.name;
  info.mailbox = meter_.waiting();
  info.oldest = duration::zero();
  if (const auto posted = meter_.oldest(); info.mailbox > 0 && posted != 0) {
    const auto now = ticks();
    info.oldest = time(now > posted ? now - posted : 0);
  }
  info.received = meter_.received();
  info.handled = meter_.handled();
  info.busy = time(meter_.busy());
  info.longest = time(meter_.longest());
  info.current = {};
  info.current_for = duration::zero();
  if (const auto* current = meter_.current()) {
    info.current = current->name();
    const auto begun = meter_.since();
    const auto now = ticks();
    info.current_for = time(now > begun ? now - begun : 0);
  }
  add_crashes(info);
  info.age = core_->time->now() - created_;
  info.paused = paused_.load(std::memory_order_relaxed);
  info.backing_off = backing_off_.load(std::memory_order_relaxed);
}

void actor_cell::detail(double nanoseconds_per_tick, actor_detail& into) const {
  row(nanoseconds_per_tick, into.info);
  into.messages = stats_.read(nanoseconds_per_tick);
  std::lock_guard lock{mtx_};
  if (crashes_) into.restarts = crashes_->records;
  if (commands_ && commands_->log) into.log_level = commands_->log->level();
}

}  // namespace troupe::runtime

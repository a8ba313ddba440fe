#include "support/remote_store.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "persistence/commit/staging.hpp"
#include "persistence/defaults.hpp"
#include "persistence/engine/memory_engine.hpp"

namespace troupe::test {

using namespace persistence;

namespace {

constexpr std::size_t value_limit_bytes = 3u << 20;
// Later revisions are skipped, at most this many at once.
constexpr revision widest_hole = 7;
// The most transactions that arrive in one batch.
constexpr int widest_batch = 4;

std::unique_ptr<engine> open_scratch() {
  auto opened = memory_engine_on(std::make_shared<memory_disk>())(open_mode::strict);
  if (!opened) throw std::logic_error{opened.error().message};
  return std::move(*opened);
}

submission encoded(transaction request, std::vector<std::string> stored, completion done) {
  return {std::move(request), std::move(stored), std::move(done)};
}

}  // namespace

remote_store::remote_store(remote_store_options options)
    : options_{std::move(options)},
      random_{options_.seed},
      scratch_{open_scratch()},
      edit_{*tree_root::empty(defaults::first_revision)},
      digest_{state_digest::of(*tree_root::empty(defaults::first_revision))},
      judged_{defaults::first_revision},
      root_{tree_root::empty(defaults::first_revision)} {
  if (options_.threaded) thread_ = std::thread{[this] { work(); }};
}

remote_store::~remote_store() {
  {
    const std::lock_guard lock{mutex_};
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool remote_store::chance(double probability) {
  return std::uniform_real_distribution{}(random_) < probability;
}

std::chrono::system_clock::time_point remote_store::now() const {
  return options_.wall_clock ? options_.wall_clock() : std::chrono::system_clock::now();
}

// -- what is asked here ---------------------------------------------------------------------------

void remote_store::submit(transaction request, completion done) {
  auto stored = encode(request, value_limit_bytes);
  if (!stored) return done(fail(std::move(stored.error())));
  send(encoded(std::move(request), std::move(*stored), std::move(done)));
}

void remote_store::barrier(barrier_completion done) {
  send(question{std::move(done)});
}

void remote_store::send(sent next) {
  add_work([&] { sent_.push_back(std::move(next)); });
}

template <class F>
void remote_store::add_work(F add) {
  bool idle = false;
  {
    const std::lock_guard lock{mutex_};
    idle = sent_.empty() && arrivals_.empty();
    add();
  }
  changed_.notify_all();
  if (idle && options_.on_work) options_.on_work();
}

outcome remote_store::elsewhere(transaction request) {
  auto stored = encode(request, value_limit_bytes);
  if (!stored) return fail(std::move(stored.error()));
  request.cause = {};
  auto next = encoded(std::move(request), std::move(*stored), {});
  outcome result;
  add_work([&] {
    arrival made;
    const auto at = next_revision();
    result = apply(next, at, made.changes);
    if (made.changes.empty()) return;
    judged_ = at;
    made.state = edit_.freeze(at);
    arrivals_.push_back(std::move(made));
  });
  return result;
}

// -- elsewhere ------------------------------------------------------------------------------------

revision remote_store::next_revision() {
  return judged_ + 1 + (chance(options_.hole) ? random_() % widest_hole : 0);
}

// The rules are those of every store; `at` is the revision that the change gets.
outcome remote_store::apply(submission& request, revision at, std::vector<change>& into) {
  space_manager endless{store_options{}};
  const auto rows = scratch_->make_batch();
  staging staged{edit_, digest_, *rows, {at - 1, 0, now(), &endless}};
  auto result = staged.apply(request);
  if (!result) return result;
  if (staged.empty()) result->at = into.empty() ? judged_ : at;
  const auto made = staged.changes();
  into.insert(into.end(), made->begin(), made->end());
  return result;
}

void remote_store::interfere(const sent& next) {
  const auto* request = std::get_if<submission>(&next);
  if (calm_ || request == nullptr || request->request.mutations.empty()) return;
  if (!chance(options_.foreign)) return;
  const auto& key = request->request.mutations.front().key;
  const auto* found = edit_.find(key);
  const auto object = found == nullptr ? nullptr : found->object();
  if (!object || (options_.may_change && !options_.may_change(*object))) return;
  auto content = object->copy();
  (*api::meta_of(*content).mutable_annotations())["elsewhere"] = std::to_string(++foreign_);
  transaction change;
  change.mutations.push_back({key, &object->kind(), std::move(content)});
  auto stored = encode(change, value_limit_bytes);
  if (!stored) return;
  auto foreign = encoded(std::move(change), std::move(*stored), {});
  arrival made;
  const auto at = next_revision();
  static_cast<void>(apply(foreign, at, made.changes));
  judged_ = at;
  made.state = edit_.freeze(at);
  arrivals_.push_back(std::move(made));
}

// The oldest one that was sent, and perhaps those behind it at the same revision.
void remote_store::evaluate() {
  interfere(sent_.front());
  arrival made;
  const auto at = next_revision();
  std::set<std::string> touched;
  do {
    auto& next = sent_.front();
    if (auto* asked = std::get_if<question>(&next)) {
      // All changes of the cluster precede this in the queue of arrivals.
      const auto reached = made.changes.empty() ? judged_ : at;
      made.answers.push_back([done = std::move(asked->done), reached] { done(reached); });
    } else {
      auto& request = std::get<submission>(next);
      const auto& all = request.request.mutations;
      if (std::any_of(all.begin(), all.end(),
                      [&](const mutation& each) { return touched.contains(each.key); }))
        break;
      for (const auto& each : all)
        touched.insert(each.key);
      evaluate(request, at, made);
    }
    sent_.pop_front();
  } while (!sent_.empty() && chance(options_.shared));
  if (!made.changes.empty()) {
    judged_ = at;
    made.state = edit_.freeze(at);
  }
  arrivals_.push_back(std::move(made));
}

void remote_store::evaluate(submission& next, revision at, arrival& into) {
  if (chance(options_.uncaused)) next.request.cause = {};
  auto result = apply(next, at, into.changes);
  ++(result ? transactions_ : conflicts_);
  into.answers.push_back([done = std::move(next.done), result = std::move(result)]() mutable {
    done(std::move(result));
  });
}

// -- what arrives ---------------------------------------------------------------------------------

bool remote_store::step() {
  if (stepping_.load() == std::this_thread::get_id()) return false;
  const std::lock_guard stepping{step_mutex_};
  std::unique_lock lock{mutex_};
  if (sent_.empty() && arrivals_.empty()) return false;
  stepping_ = std::this_thread::get_id();
  if (arrivals_.empty() || (!sent_.empty() && chance(0.5)))
    evaluate();
  else
    arrive(lock);
  stepping_ = std::thread::id{};
  return true;
}

// State, observer, responses: in this order, without the lock.
void remote_store::arrive(std::unique_lock<std::mutex>& lock) {
  const auto after = root_->at();
  auto batch = std::make_shared<std::vector<change>>();
  std::vector<std::function<void()>> answers;
  const int most = 1 + static_cast<int>(random_() % widest_batch);
  for (int i = 0; i < most && !arrivals_.empty(); ++i) {
    auto& next = arrivals_.front();
    batch->insert(batch->end(), next.changes.begin(), next.changes.end());
    std::move(next.answers.begin(), next.answers.end(), std::back_inserter(answers));
    if (next.state) root_ = std::move(next.state);
    arrivals_.pop_front();
  }
  if (!batch->empty()) ++batches_;
  keep_history(*batch);
  // The new state is not read while the lock is held.
  if (!batch->empty() && index_.take) index_.take(*batch);
  lock.unlock();
  if (!batch->empty() && observer_) observer_(after, batch);
  for (const auto& each : answers)
    each();
}

void remote_store::run() {
  while (step()) {
  }
}

bool remote_store::busy() const {
  const std::lock_guard lock{mutex_};
  return !sent_.empty() || !arrivals_.empty();
}

void remote_store::calm(bool calm) {
  const std::lock_guard lock{mutex_};
  calm_ = calm;
}

void remote_store::work() {
  for (;;) {
    while (step()) {
    }
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return closing_ || !sent_.empty() || !arrivals_.empty(); });
    if (closing_ && sent_.empty() && arrivals_.empty()) return;
  }
}

void remote_store::observe(batch_observer observer, state_index index) {
  const std::lock_guard stepping{step_mutex_};
  observer_ = std::move(observer);
  index_ = std::move(index);
  if (index_.load) index_.load(read());
}

// -- what is known here ---------------------------------------------------------------------------

void remote_store::keep_history(const std::vector<change>& changes) {
  for (const auto& each : changes) {
    if (log_.empty() || log_.back().at != each.at) ++log_revisions_;
    log_.push_back(each);
  }
  while (log_revisions_ > options_.history_revisions)
    drop_history(log_.front().at);
}

void remote_store::drop_history(revision up_to) {
  while (!log_.empty() && log_.front().at <= up_to) {
    const auto at = log_.front().at;
    log_.pop_front();
    if (log_.empty() || log_.front().at != at) --log_revisions_;
  }
  compacted_ = std::max(compacted_, up_to);
}

expected<void> remote_store::compact(revision up_to) {
  const std::lock_guard lock{mutex_};
  if (up_to > root_->at())
    return fail(errc::future_revision, fmt::format("revision {} is not known here yet", up_to));
  drop_history(up_to);
  return {};
}

snapshot remote_store::read() const {
  const std::lock_guard lock{mutex_};
  return {root_, root_->at()};
}

expected<snapshot> remote_store::read_at(revision at) const {
  const auto present = read();
  if (at == present.at()) return present;
  if (at > present.at())
    return fail(errc::future_revision, fmt::format("revision {} is not known here yet", at));
  if (auto pinned = pins_.find(at, now())) return *pinned;
  return fail(errc::compacted, fmt::format("the state at revision {} is not kept any more", at));
}

expected<snapshot> remote_store::rebuild(revision at) {
  if (auto kept = read_at(at); kept || kept.error().code != errc::compacted) return kept;
  const std::lock_guard lock{mutex_};
  if (at < compacted_)
    return fail(errc::compacted, fmt::format("the state at revision {} is not kept any more", at));
  tree_edit edit{*root_};
  for (auto each = log_.rbegin(); each != log_.rend() && each->at > at; ++each)
    if (each->type == change_type::created)
      edit.remove(each->key);
    else
      edit.put(each->key, each->previous, 0);
  const snapshot state{edit.freeze(at), at};
  pin(state);
  return state;
}

void remote_store::pin(const snapshot& state) {
  pins_.pin(state, now());
}

expected<std::vector<change>> remote_store::changes(revision after, std::size_t limit) const {
  const std::lock_guard lock{mutex_};
  if (after > root_->at())
    return fail(errc::future_revision, fmt::format("revision {} is not known here yet", after));
  if (after < compacted_)
    return fail(errc::compacted,
                fmt::format("the changes after revision {} are not kept any more", after));
  std::vector<change> found;
  auto next = std::upper_bound(log_.begin(), log_.end(), after,
                               [](revision at, const change& each) { return at < each.at; });
  for (; next != log_.end(); ++next) {
    if (found.size() >= std::max<std::size_t>(limit, 1) && found.back().at != next->at) break;
    found.push_back(*next);
  }
  return found;
}

store_stats remote_store::stats() const {
  const std::lock_guard lock{mutex_};
  store_stats shown;
  shown.current = root_->at();
  shown.compacted = compacted_;
  shown.log_revisions = log_revisions_;
  shown.objects = root_->size();
  shown.transactions = transactions_;
  shown.conflicts = conflicts_;
  shown.batches = batches_;
  shown.queued = sent_.size();
  return shown;
}

std::string remote_store::cluster_id() const {
  return "00000000-0000-4000-8000-000000000000";
}

std::uint64_t remote_store::foreign_changes() const {
  const std::lock_guard lock{mutex_};
  return foreign_;
}

}  // namespace troupe::test

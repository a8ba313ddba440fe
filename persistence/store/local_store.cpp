#include "persistence/store/local_store.hpp"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <future>

#include "persistence/defaults.hpp"
#include "persistence/log/history.hpp"

namespace troupe::persistence {

expected<std::unique_ptr<store>> local_store::open(store_options options, engine_factory factory) {
  return open_local(std::move(options), std::move(factory));
}

expected<std::unique_ptr<local_store>> local_store::open_local(store_options options,
                                                               engine_factory factory) {
  auto space = std::make_unique<space_manager>(options);
  auto loaded = load(factory, options);
  while (!loaded && loaded.error().code == errc::no_space && space->release_half())
    loaded = load(factory, options);
  if (!loaded) return fail(std::move(loaded.error()));
  return std::unique_ptr<local_store>{new local_store{std::move(options), std::move(factory),
                                                      std::move(*loaded), std::move(space)}};
}

local_store::local_store(store_options options, engine_factory factory, loaded_store loaded,
                         std::unique_ptr<space_manager> space)
    : core_{std::move(options), std::move(factory), std::move(loaded), std::move(space)},
      committer_{core_, loaded.floor, loaded.horizon, loaded.sealed_since},
      queue_{core_.options.queue_limit, defaults::queue_bytes},
      maintenance_due_{core_.compacted + core_.options.history_revisions} {
  if (!core_.options.threaded) return;
  for (auto& each : commit_threads_) {
    each = std::thread{[this] { run_commits(); }};
    ::pthread_setname_np(each.native_handle(), "store-commit");
  }
  maintenance_thread_ = std::thread{[this] { run_maintenance(); }};
  ::pthread_setname_np(maintenance_thread_.native_handle(), "store-upkeep");
}

local_store::~local_store() {
  closing_ = true;
  stop_rewriting_ = true;
  if (maintenance_thread_.joinable()) {
    { std::lock_guard lock{maintenance_mutex_}; }  // the thread is now before its check, or waiting
    maintenance_wanted_.notify_one();
    maintenance_thread_.join();
  }
  queue_.close();
  for (auto& each : commit_threads_)
    if (each.joinable()) each.join();
  committer_.close();
}

// -- submitting -----------------------------------------------------------------------------------

void local_store::submit(transaction request, completion done) {
  auto stored = encode(request, core_.options.value_limit_bytes);
  if (!stored) {
    done(fail(std::move(stored.error())));
    return;
  }
  submission next{std::move(request), std::move(*stored), std::move(done)};
  next.size_bytes = sizeof next;
  for (const auto& each : next.stored)
    next.size_bytes += each.size();
  push(std::move(next));
}

void local_store::follow(std::vector<decided_step> steps,
                         const std::function<void(std::size_t index, outcome)>& done) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    submission next{{}, {}, [done, i](outcome result) { done(i, std::move(result)); }};
    next.size_bytes = sizeof next;
    for (const auto& each : steps[i].changes)
      next.size_bytes += each.key.size() + each.stored.size();
    next.decided = std::make_unique<decided_step>(std::move(steps[i]));
    enqueue(std::move(next));
  }
  if (!core_.options.threaded) commit_here();
}

void local_store::push(submission next) {
  enqueue(std::move(next));
  if (!core_.options.threaded) commit_here();
}

void local_store::enqueue(submission next) {
  if (!core_.options.threaded && core_.read_only) commit_here();  // retries the disk
  if (auto taken = queue_.push(next); !taken) next.done(fail(std::move(taken.error())));
}

// An empty transaction takes no revision and is never written, but keeps its place in the queue.
void local_store::barrier(barrier_completion done) {
  submit({}, [done = std::move(done)](const outcome& result) {
    if (!result) return done(fail(result.error()));
    done(result->at);
  });
}

void local_store::observe(batch_observer observer, state_index index) {
  between_batches([&] {
    if (index.load) index.load(read());
    committer_.observer(std::move(observer), std::move(index.take));
  });
}

void local_store::between_batches(const std::function<void()>& work) {
  if (!core_.options.threaded || on_commit_thread()) {
    work();
    return;
  }
  // Shared: a commit thread may still be inside set_value when the waiter returns.
  const auto ran = std::make_shared<std::promise<void>>();
  if (queue_.post([&work, ran] {
        work();
        ran->set_value();
      }))
    ran->get_future().wait();
}

// -- the commit threads ---------------------------------------------------------------------------

bool local_store::on_commit_thread() const {
  return std::any_of(commit_threads_.begin(), commit_threads_.end(), [](const std::thread& each) {
    return each.get_id() == std::this_thread::get_id();
  });
}

void local_store::run_commits() {
  while (commit_round(submit_queue::deadline::max())) {
  }
}

void local_store::commit_here() {
  {
    std::lock_guard lock{inline_mutex_};
    if (inline_busy_) return;  // the busy thread commits ours, too
    inline_busy_ = true;
  }
  for (;;) {
    commit_round(std::nullopt);
    if (is_maintenance_due() && maintenance()) core_.space->history_truncated();
    std::lock_guard lock{inline_mutex_};
    if (queue_.size() > 0) continue;
    inline_busy_ = false;
    return;
  }
}

namespace {

// The error of a failed write; `no_space` would mean that nothing was written.
error unknown_outcome(error failure) {
  if (failure.code == errc::no_space) failure.code = errc::io;
  return failure;
}

}  // namespace

// Lock coupling: staging has the first lock, writing has the disk, answering has the second lock,
// and each is acquired before the previous one is released. So batches never overtake each other.
bool local_store::commit_round(std::optional<submit_queue::deadline> until) {
  std::unique_lock staging{staging_mutex_};
  if (until && core_.read_only) until = *retry_at_;
  const submit_queue::batch_size all{core_.options.batch_limit, defaults::batch_bytes};
  auto work = queue_.take(all, until);
  if (!work.tasks.empty() || core_.read_only) idle_round(work);
  if (work.submissions.empty()) {
    if (work.disk) queue_.release_disk();
    return !work.closed;
  }
  const auto next = stage(std::move(work), all);
  staging.unlock();

  const auto written = committer_.write(*next);
  std::unique_lock answers{answers_mutex_};
  const auto refusal = failure_;
  if (!written && !failure_) enter_read_only(written.error());
  // Answers small batches first: their clients' next transactions may join the next
  // batch.
  const bool few = next->taken.size() <= defaults::staging_chunk;
  if (!few) queue_.release_disk();
  if (written)
    committer_.publish(*next);
  else
    // Conflicts fail too: the conflicting changes may never have been committed.
    for (auto& each : next->taken)
      each.done(fail(refusal.value_or(unknown_outcome(written.error()))));
  if (few) queue_.release_disk();
  answers.unlock();
  wake_maintenance();
  return true;
}

// The batch grows until the disk is acquired.
std::unique_ptr<batch> local_store::stage(submit_queue::work first, submit_queue::batch_size all) {
  auto next = committer_.begin();
  for (auto work = std::move(first);;) {
    committer_.stage(*next, std::move(work.submissions));
    if (work.disk) break;
    const std::size_t bytes = next->rows->size_bytes();
    const bool full = next->taken.size() >= all.count || bytes >= all.bytes;
    work = queue_.more(
        full ? submit_queue::batch_size{0, 0}
             : submit_queue::batch_size{all.count - next->taken.size(), all.bytes - bytes});
  }
  committer_.seal(*next);
  return next;
}

// Runs with no batch in the pipeline: tasks, and the recovery of the disk. While recovery fails,
// submitted transactions fail too.
void local_store::idle_round(submit_queue::work& work) {
  if (!work.disk) queue_.acquire_disk();
  work.disk = true;
  std::lock_guard answers{answers_mutex_};
  for (const auto& each : work.tasks)
    each();
  if (failure_ && !work.closed && std::chrono::steady_clock::now() >= *retry_at_) try_recovery();
  if (!failure_) return;
  for (auto& each : work.submissions)
    each.done(fail(*failure_));
  work.submissions.clear();
}

bool local_store::is_maintenance_due() const {
  return core_.root.load()->at() >= maintenance_due_ ||
         core_.unchecked_bytes >= core_.space->history_bytes() / defaults::maintenance_part ||
         core_.space->is_truncation_needed();
}

// Checked from time to time, by the thread that has just answered.
bool local_store::is_behind() {
  std::shared_lock lock{core_.disk_mutex};
  return core_.disk != nullptr && core_.disk->is_behind();
}

void local_store::wake_maintenance() {
  if (!core_.options.threaded) return;
  bool behind = core_.unchecked_bytes >= core_.space->history_bytes() / defaults::maintenance_part *
                                             defaults::maintenance_parts_ahead;
  if (core_.unseen_bytes >= defaults::batch_bytes) {
    core_.unseen_bytes = 0;
    behind = is_behind() || behind;
  }
  if (behind) queue_.hold(true);
  if (!behind && !is_maintenance_due()) return;
  std::lock_guard lock{maintenance_mutex_};
  maintenance_now_ = true;
  maintenance_wanted_.notify_one();
}

void local_store::enter_read_only(const error& reason) {
  spdlog::error("store: read-only until the disk answers: {}", reason.message);
  failure_ = error{errc::read_only, "the store accepts no writes for now: " + reason.message};
  queue_.refuse(failure_);
  retry_after_ = defaults::retry_first;
  retry_at_ = std::chrono::steady_clock::now();
  if (reason.code != errc::no_space || !core_.space->release_half()) *retry_at_ += retry_after_;
  stop_rewriting_ = true;
  core_.read_only = true;
  queue_.post([] {});  // wakes the thread that waits for work, so that it waits for the disk
}

void local_store::try_recovery() {
  auto done = committer_.recover();
  // If the first half of the reserve was not enough, frees more.
  while (!done && done.error().code == errc::no_space && core_.space->release_half())
    done = committer_.recover();
  if (!done) {
    spdlog::debug("store: still read-only: {}", done.error().message);
    retry_after_ = std::min<std::chrono::milliseconds>(2 * retry_after_, defaults::retry_limit);
    retry_at_ = std::chrono::steady_clock::now() + retry_after_;
    return;
  }
  spdlog::info("store: the disk answers again, writing goes on after revision {}", read().at());
  core_.space->check_disk();
  failure_.reset();
  retry_at_.reset();
  stop_rewriting_ = closing_.load();
  queue_.refuse(std::nullopt);
  core_.read_only = false;  // whoever sees it may write
}

// -- reading --------------------------------------------------------------------------------------

snapshot local_store::read() const {
  auto root = core_.root.load();
  const auto at = root->at();
  return {std::move(root), at};
}

expected<snapshot> local_store::read_at(revision at) const {
  auto now = read();
  if (at == now.at()) return now;
  if (at > now.at())
    return fail(errc::future_revision,
                fmt::format("revision {} has not happened yet: the newest is {}", at, now.at()));
  if (auto pinned = pins_.find(at, core_.now())) return *pinned;
  return fail(errc::compacted, fmt::format("the state at revision {} is not kept any more; the "
                                           "newest is {}",
                                           at, now.at()));
}

void local_store::pin(const snapshot& state) {
  pins_.pin(state, core_.now());
}

template <class F>
auto local_store::from_history(revision after, F read) const
    -> decltype(read(std::declval<const engine&>())) {
  std::shared_lock lock{core_.disk_mutex};
  if (core_.disk == nullptr)
    return fail(errc::read_only, "the disk has failed and is being opened again; try again later");
  if (after >= core_.compacted) {
    auto found = read(*core_.disk);
    if (after >= core_.compacted) return found;
  }
  return fail(errc::compacted, fmt::format("the changes after revision {} are not kept any more: "
                                           "the history begins after {}",
                                           after, core_.compacted.load()));
}

expected<snapshot> local_store::rebuild(revision at) {
  auto kept = read_at(at);
  if (kept || kept.error().code != errc::compacted) return kept;
  const auto now = core_.root.load();
  auto made = from_history(at, [&](const engine& disk) {
    return rebuild_state(disk, *now, at, {defaults::rebuild_changes, defaults::rebuild_bytes});
  });
  if (!made) return fail(std::move(made.error()));
  const snapshot state{std::move(*made), at};
  pins_.pin_rebuilt(state, core_.now());
  return state;
}

expected<std::vector<change>> local_store::changes(revision after, std::size_t limit) const {
  const auto now = core_.root.load();
  if (after > now->at())
    return fail(
        errc::future_revision,
        fmt::format("revision {} has not happened yet: the newest is {}", after, now->at()));
  return from_history(after, [&](const engine& disk) {
    return read_changes(disk, *now, after, now->at(), std::max<std::size_t>(limit, 1));
  });
}

store_stats local_store::stats() const {
  store_stats s;
  const auto now = core_.root.load();
  s.current = now->at();
  s.compacted = core_.compacted;
  s.log_revisions = core_.gaps.used(s.compacted, s.current);
  s.objects = now->size();
  s.transactions = core_.transactions;
  s.conflicts = core_.conflicts;
  s.batches = core_.batches;
  s.queued = queue_.size();
  const auto syncs = core_.syncs.read();
  s.last_sync = syncs.last;
  s.sync_p50 = syncs.p50;
  s.sync_p99 = syncs.p99;
  s.read_only = core_.read_only;
  s.log_limit_bytes = core_.space->history_bytes();
  s.low_space = core_.space->low();
  s.disk_free_bytes = core_.space->free_bytes();
  if (!core_.options.directory.empty()) s.disk_bytes = usage_of(core_.options.directory);
  std::shared_lock lock{core_.disk_mutex};
  if (core_.disk == nullptr) return s;
  s.log_bytes = core_.log_bytes + core_.disk->size_bytes(table::bases);
  s.object_bytes = core_.disk->size_bytes(table::objects);
  return s;
}

std::string local_store::cluster_id() const {
  return core_.cluster_id;
}

}  // namespace troupe::persistence

#include "persistence/local_store.hpp"

#include <pthread.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <future>

#include "persistence/defaults.hpp"
#include "persistence/history.hpp"

namespace troupe::persistence {

expected<std::unique_ptr<store>> local_store::open(store_options options, engine_factory factory) {
  auto loaded = load(factory, options);
  if (!loaded) return fail(std::move(loaded.error()));
  return std::unique_ptr<store>{
      new local_store{std::move(options), std::move(factory), std::move(*loaded)}};
}

local_store::local_store(store_options options, engine_factory factory, loaded_store loaded)
    : core_{std::move(options), std::move(factory), std::move(loaded)},
      committer_{core_, loaded.floor, loaded.horizon},
      queue_{core_.options.queue_limit, defaults::queue_bytes},
      upkeep_due_{core_.compacted + core_.options.history_revisions} {
  if (!core_.options.threaded) return;
  commit_thread_ = std::thread{[this] { run_commits(); }};
  ::pthread_setname_np(commit_thread_.native_handle(), "store-commit");
  upkeep_thread_ = std::thread{[this] { run_upkeep(); }};
  ::pthread_setname_np(upkeep_thread_.native_handle(), "store-upkeep");
}

local_store::~local_store() {
  closing_ = true;
  if (upkeep_thread_.joinable()) {
    { std::lock_guard lock{upkeep_mutex_}; }  // it is before its check or in its wait
    upkeep_wanted_.notify_one();
    upkeep_thread_.join();
  }
  queue_.close();
  if (commit_thread_.joinable()) commit_thread_.join();
  committer_.close();
}

// -- submitting -----------------------------------------------------------------------------------

void local_store::submit(transaction what, completion done) {
  auto stored = encode(what, core_.options.value_limit_bytes);
  if (!stored) {
    done(fail(std::move(stored.error())));
    return;
  }
  submission next{std::move(what), std::move(*stored), std::move(done)};
  next.size_bytes = sizeof next;
  for (const auto& each : next.stored)
    next.size_bytes += each.size();
  if (!core_.options.threaded && core_.read_only) commit_here();  // has the disk come back?
  if (auto taken = queue_.push(next); !taken) {
    next.done(fail(std::move(taken.error())));
    return;
  }
  if (!core_.options.threaded) commit_here();
}

void local_store::observe(std::function<void(change_batch)> observer) {
  between_batches([&] { committer_.observer(std::move(observer)); });
}

void local_store::between_batches(const std::function<void()>& what) {
  if (!core_.options.threaded || std::this_thread::get_id() == commit_thread_.get_id()) {
    what();
    return;
  }
  // Shared: the commit thread may still be inside set_value when the waiter goes on.
  const auto ran = std::make_shared<std::promise<void>>();
  if (queue_.post([&what, ran] {
        what();
        ran->set_value();
      }))
    ran->get_future().wait();
}

// -- the commit thread ----------------------------------------------------------------------------

void local_store::run_commits() {
  while (commit_round(retry_at_.value_or(submit_queue::deadline::max()))) {
  }
}

void local_store::commit_here() {
  {
    std::lock_guard lock{inline_mutex_};
    if (inline_busy_) return;  // whoever is busy takes ours, too
    inline_busy_ = true;
  }
  for (;;) {
    commit_round(std::nullopt);
    if (core_.root.load()->at() >= upkeep_due_) upkeep();
    std::lock_guard lock{inline_mutex_};
    if (queue_.size() > 0) continue;
    inline_busy_ = false;
    return;
  }
}

bool local_store::commit_round(std::optional<submit_queue::deadline> until) {
  auto work = queue_.take(core_.options.batch_limit, defaults::batch_bytes, until);
  for (const auto& each : work.tasks)
    each();
  if (failure_ && !work.closed && std::chrono::steady_clock::now() >= *retry_at_) try_recovery();
  if (!work.submissions.empty()) commit(work.submissions);
  if (core_.root.load()->at() >= upkeep_due_ && core_.options.threaded) {
    std::lock_guard lock{upkeep_mutex_};
    upkeep_now_ = true;
    upkeep_wanted_.notify_one();
  }
  return !work.closed || !work.submissions.empty();
}

void local_store::commit(std::vector<submission>& taken) {
  auto done = failure_ ? fail(*failure_) : committer_.commit(taken);
  if (done) return;
  if (!failure_) fall_read_only(done.error());
  // Conflicts too: what they were in conflict with may never have happened.
  for (auto& each : taken)
    each.done(fail(done.error()));
}

void local_store::fall_read_only(const error& why) {
  spdlog::error("store: read-only until the disk answers: {}", why.message);
  failure_ = error{errc::read_only, "the store takes no writes for now: " + why.message};
  queue_.refuse(failure_);
  core_.read_only = true;
  retry_after_ = defaults::retry_first;
  retry_at_ = std::chrono::steady_clock::now() + retry_after_;
}

void local_store::try_recovery() {
  if (auto done = committer_.recover(); !done) {
    spdlog::debug("store: still read-only: {}", done.error().message);
    retry_after_ = std::min<std::chrono::milliseconds>(2 * retry_after_, defaults::retry_limit);
    retry_at_ = std::chrono::steady_clock::now() + retry_after_;
    return;
  }
  spdlog::info("store: the disk answers again, writing goes on after revision {}", read().at());
  failure_.reset();
  retry_at_.reset();
  core_.read_only = false;
  queue_.refuse(std::nullopt);
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

expected<std::vector<change>> local_store::changes(revision after, std::size_t limit) const {
  const auto now = core_.root.load();
  if (after > now->at())
    return fail(
        errc::future_revision,
        fmt::format("revision {} has not happened yet: the newest is {}", after, now->at()));
  std::shared_lock lock{core_.disk_mutex};
  if (core_.disk == nullptr)
    return fail(errc::read_only, "the disk has failed and is being opened anew; try again later");
  auto found = read_changes(*core_.disk, *now, after, now->at(), std::max<std::size_t>(limit, 1));
  if (const revision compacted = core_.compacted; after < compacted)
    return fail(errc::compacted, fmt::format("the changes after revision {} are not kept any more: "
                                             "the history begins after {}",
                                             after, compacted));
  return found;
}

store_stats local_store::stats() const {
  store_stats s;
  const auto now = core_.root.load();
  s.current = now->at();
  s.compacted = core_.compacted;
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
  std::shared_lock lock{core_.disk_mutex};
  if (core_.disk == nullptr) return s;
  s.log_bytes = core_.disk->size_bytes(table::changes) + core_.disk->size_bytes(table::bases);
  s.object_bytes = core_.disk->size_bytes(table::objects);
  return s;
}

std::string local_store::cluster_id() const {
  return core_.cluster_id;
}

}  // namespace troupe::persistence

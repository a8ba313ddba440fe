#include "persistence/replica/replicated_store.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "persistence/defaults.hpp"
#include "persistence/engine/replica_mark.hpp"

namespace troupe::persistence {

namespace {

// What is damaged is dropped, and fetched again from the log.
expected<std::unique_ptr<local_store>> open_replica(const store_options& options,
                                                    const engine_factory& factory) {
  if (options.directory.empty()) return local_store::open_local(options, factory);
  if (auto marked = mark_replica(options.directory); !marked)
    return fail(std::move(marked.error()));
  auto opened = local_store::open_local(options, factory);
  if (opened || (opened.error().code != errc::corrupt && opened.error().code != errc::incompatible))
    return opened;
  spdlog::warn("store: the copy in {} is dropped and fetched again: {}", options.directory,
               opened.error().message);
  drop_replica(options.directory);
  return local_store::open_local(options, factory);
}

}  // namespace

expected<std::unique_ptr<replicated_store>> replicated_store::open(store_options options,
                                                                   engine_factory factory,
                                                                   std::unique_ptr<shared_log> log,
                                                                   std::string session) {
  options.replica = true;
  options.threaded = false;
  auto replica = open_replica(options, factory);
  if (!replica) return fail(std::move(replica.error()));
  auto made = std::unique_ptr<replicated_store>{
      new replicated_store{std::move(*replica), std::move(log), std::move(session)}};
  made->begin();
  return made;
}

replicated_store::replicated_store(std::unique_ptr<local_store> replica,
                                   std::unique_ptr<shared_log> log, std::string session)
    : replica_{std::move(replica)},
      session_{std::move(session)},
      applied_{replica_->read().at()},
      log_{std::move(log)} {}

replicated_store::~replicated_store() {
  log_.reset();
  answer_all([](const pending&) { return true; }, {errc::closed, "the store is shutting down"});
  for (auto& each : questions_)
    each.done(fail(errc::closed, "the store is shutting down"));
}

void replicated_store::begin() {
  raise_session();
  if (applied_ > defaults::first_revision)
    follow();
  else
    read_whole_state();
}

void replicated_store::campaign(std::string name, std::chrono::seconds time_to_live,
                                std::function<void(revision fence)> changed) {
  // On the thread of the log, and not before the state here is the cluster's.
  barrier([this, name = std::move(name), time_to_live,
           changed = std::move(changed)](const expected<revision>& reached) mutable {
    if (!reached) {
      log_->call_later(defaults::log_retry_limit, [this, name = std::move(name), time_to_live,
                                                   changed = std::move(changed)]() mutable {
        campaign(std::move(name), time_to_live, std::move(changed));
      });
      return;
    }
    election_ =
        std::make_unique<election>(*log_, std::move(name), time_to_live, std::move(changed));
    election_->begin(leader_);
  });
}

void replicated_store::resign() {
  log_->call_later({}, [this] {
    if (election_) election_->resign();
  });
}

// What it says of the leader is told when everything before it is visible here.
void replicated_store::see_leader(const leader_change& seen) {
  leader_ = seen;
  if (election_) election_->on_leader(seen);
}

void replicated_store::observe(batch_observer observer, state_index index) {
  const std::lock_guard lock{replica_mutex_};
  replica_->observe(std::move(observer), std::move(index));
}

expected<void> replicated_store::compact(revision up_to) {
  const std::lock_guard lock{replica_mutex_};
  return replica_->compact(up_to);
}

store_stats replicated_store::stats() const {
  auto shown = replica_->stats();
  const std::lock_guard lock{mutex_};
  shown.queued = pending_.size();
  shown.conflicts = conflicts_;
  shown.read_only = shown.read_only || !is_following_ || session_revision_ == 0;
  return shown;
}

// -- the steps of the log -------------------------------------------------------------------------

void replicated_store::on_steps(std::vector<log_step> steps) {
  for (auto& each : steps) {
    if (reading_ != nullptr) return;
    if (each.at <= applied_) continue;
    if (each.at != applied_ + 1) {
      spdlog::error("store: the log went from revision {} to {}: reading the whole state", applied_,
                    each.at);
      return read_whole_state();
    }
    if (auto done = apply(std::move(each)); !done) return retry(done.error(), [this] { follow(); });
  }
  retry_after_ = defaults::log_retry_first;
}

expected<void> replicated_store::apply(log_step from) {
  auto next = persistence::read(std::move(from));
  if (!next) return fail(std::move(next.error()));
  const auto at = next->step.at;
  std::vector<std::string> keys;
  for (const auto& each : next->step.changes)
    keys.push_back(each.key);
  // What changes nothing that is known here leaves no trace.
  outcome made = keys.empty() ? outcome{committed{at, {}}} : take(std::move(next->step));
  if (!made) return fail(std::move(made.error()));
  applied_ = at;
  if (next->tag && next->tag->session == session_) {
    committed mine{keys.empty() ? this->read().at() : at, {}};
    {
      const std::lock_guard lock{mutex_};
      const auto found = pending_.find(next->tag->sequence);
      if (found != pending_.end())
        for (const auto& key : found->second.keys) {
          const auto place = std::find(keys.begin(), keys.end(), key) - keys.begin();
          const bool there = static_cast<std::size_t>(place) < keys.size();
          mine.objects.push_back(there ? made->objects[place] : nullptr);
        }
    }
    answer(next->tag->sequence, std::move(mine));
  }
  answer_ready();
  if (next->leader) see_leader(*next->leader);
  return {};
}

// The replica commits on this thread.
outcome replicated_store::take(decided_step step) {
  const std::lock_guard lock{replica_mutex_};
  outcome made = fail(errc::io, "the replica did not answer");
  replica_->follow(std::move(step), [&made](outcome result) { made = std::move(result); });
  return made;
}

void replicated_store::follow() {
  log_->follow(applied_, *this);
  {
    const std::lock_guard lock{mutex_};
    is_following_ = true;
    send_waiting();
  }
  answer_ready();
}

void replicated_store::on_end(error reason) {
  if (reason.code != errc::compacted) return retry(reason, [this] { follow(); });
  spdlog::warn("store: {}: reading the whole state", reason.message);
  read_whole_state();
}

void replicated_store::retry(const error& reason, std::function<void()> work) {
  spdlog::warn("store: the shared log cannot be followed, trying again: {}", reason.message);
  reading_.reset();
  log_->call_later(retry_after_, std::move(work));
  retry_after_ = std::min<std::chrono::milliseconds>(2 * retry_after_, defaults::log_retry_limit);
}

// -- a whole state --------------------------------------------------------------------------------

void replicated_store::read_whole_state() {
  {
    // Nobody would see the steps of what is sent now.
    const std::lock_guard lock{mutex_};
    is_following_ = false;
  }
  reading_ = std::make_unique<whole_state>(read());
  log_->list({}, 0, [this](expected<log_page> page) { on_page(std::move(page)); });
}

void replicated_store::on_page(expected<log_page> page) {
  if (reading_ == nullptr) return;
  const bool more = page && page->more;
  auto last = page && !page->items.empty() ? page->items.back().key : std::string{};
  auto taken = page ? reading_->add(std::move(*page)) : fail(std::move(page.error()));
  if (taken && more)
    return log_->list(std::move(last), reading_->at(),
                      [this](expected<log_page> next) { on_page(std::move(next)); });
  const auto at = reading_->at();
  const auto leader = reading_->leader();
  if (taken) {
    auto step = reading_->difference();
    const auto differences = step.changes.size();
    const auto made = take(std::move(step));
    if (!made) taken = fail(made.error());
    if (made)
      spdlog::info("store: the state at revision {} was read, {} objects differed", at,
                   differences);
  }
  if (!taken) return retry(taken.error(), [this] { read_whole_state(); });
  reading_.reset();
  applied_ = at;
  // Their steps may be among those that nobody has seen.
  answer_all([](const pending& each) { return each.session != 0 && !each.decided; },
             {errc::io, "the log does not tell any more whether this has happened"});
  see_leader(leader);
  follow();
}

// -- questions ------------------------------------------------------------------------------------

void replicated_store::barrier(barrier_completion done) {
  const std::lock_guard lock{mutex_};
  questions_.push_back({std::move(done), next_sequence_});
  if (!asking_) ask_newest();
}

// One at a time: those who ask meanwhile share the next. Under the lock.
void replicated_store::ask_newest() {
  asking_ = true;
  for (auto& each : questions_)
    each.asked = true;
  log_->newest([this](const expected<revision>& newest) { on_newest(newest); });
}

void replicated_store::on_newest(const expected<revision>& newest) {
  std::vector<barrier_completion> failed;
  {
    const std::lock_guard lock{mutex_};
    for (auto& each : questions_) {
      if (!each.asked || each.newest != 0) continue;
      if (newest)
        each.newest = *newest;
      else
        failed.push_back(std::move(each.done));
    }
    std::erase_if(questions_, [](const question& each) { return !each.done; });
    asking_ = false;
    if (std::any_of(questions_.begin(), questions_.end(),
                    [](const question& each) { return !each.asked; }))
      ask_newest();
  }
  for (const auto& each : failed)
    each(fail(newest.error()));
  answer_ready();
}

// Whatever waited for the state that is here now.
void replicated_store::answer_ready() {
  std::vector<later> ready;
  {
    const std::lock_guard lock{mutex_};
    const auto early = std::stable_partition(
        later_.begin(), later_.end(), [this](const later& each) { return each.at > applied_; });
    std::move(early, later_.end(), std::back_inserter(ready));
    later_.erase(early, later_.end());
  }
  for (const auto& each : ready)
    each.answer();
  std::vector<barrier_completion> passed;
  {
    const std::lock_guard lock{mutex_};
    const auto oldest = pending_.empty() ? next_sequence_ : pending_.begin()->first;
    for (auto& each : questions_)
      if (is_following_ && each.newest != 0 && each.newest <= applied_ && each.behind <= oldest)
        passed.push_back(std::move(each.done));
    std::erase_if(questions_, [](const question& each) { return !each.done; });
  }
  for (const auto& each : passed)
    each(read().at());
}

}  // namespace troupe::persistence

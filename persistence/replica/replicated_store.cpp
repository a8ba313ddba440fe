#include "persistence/replica/replicated_store.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "persistence/defaults.hpp"
#include "persistence/engine/replica_mark.hpp"

namespace troupe::persistence {

namespace {

void count(term_ends& ends, term_end reason) {
  switch (reason) {
    case term_end::unseen:
      ++ends.unseen;
      return;
    case term_end::resigned:
      ++ends.resigned;
      return;
    case term_end::expired:
      ++ends.expired;
      return;
  }
}

std::string reason_of(const std::string& node, term_end reason) {
  switch (reason) {
    case term_end::unseen:
      break;
    case term_end::resigned:
      return node + " gave it up";
    case term_end::expired:
      return node + " was silent longer than its lease";
  }
  return fmt::format("the end of the term of {} was not seen here", node);
}

// Drops a damaged replica: it is fetched again from the log.
expected<std::unique_ptr<local_store>> open_replica(const store_options& options,
                                                    const engine_factory& factory) {
  auto opened = local_store::open_local(options, factory);
  if (opened || options.directory.empty() ||
      (opened.error().code != errc::corrupt && opened.error().code != errc::incompatible))
    return opened;
  spdlog::warn("store: the replica in {} is dropped and fetched again: {}", options.directory,
               opened.error().message);
  drop_replica(options.directory);
  return local_store::open_local(options, factory);
}

}  // namespace

expected<std::unique_ptr<replicated_store>> replicated_store::open(
    store_options options, engine_factory factory, std::unique_ptr<shared_log> log,
    const std::string& identity, std::string member, log_limits limits) {
  options.replica = true;
  options.threaded = false;
  if (!options.directory.empty()) {
    auto marked = mark_replica(options.directory, identity);
    if (!marked) return fail(std::move(marked.error()));
    if (member.empty()) member = std::move(marked->member);
  }
  auto replica = open_replica(options, factory);
  if (!replica) return fail(std::move(replica.error()));
  auto made = std::unique_ptr<replicated_store>{new replicated_store{
      std::move(*replica), std::move(log), identity, std::move(member), limits}};
  made->log_->call_later({}, [store = made.get()] {
    {
      const std::lock_guard lock{store->mutex_};
      store->raise_session();
    }
    const bool is_new = store->applied_ <= defaults::first_revision;
    is_new ? store->read_whole_state() : store->follow();
    store->check();
  });
  return made;
}

replicated_store::replicated_store(std::unique_ptr<local_store> replica,
                                   std::unique_ptr<shared_log> log, std::string identity,
                                   std::string member, log_limits limits)
    : replica_{std::move(replica)},
      identity_{std::move(identity)},
      member_{std::move(member)},
      limits_{limits},
      applied_{replica_->read().at()},
      accepted_{applied_},
      anchor_{anchor_of(*replica_)},
      log_{std::move(log)} {
  known_ = applied_;
}

replicated_store::~replicated_store() {
  log_->close();
  const error closed{errc::closed, "the store is shutting down"};
  answer_all([&](const pending&) { return closed; });
  for (auto& each : questions_)
    each.done(fail(closed));
}

void replicated_store::campaign(candidacy mine, std::function<void(revision fence)> changed) {
  // On the thread of the log, and not before the state here has caught up with the cluster.
  barrier([this, mine = std::move(mine),
           changed = std::move(changed)](const expected<revision>& reached) mutable {
    if (!reached)
      return log_->call_later(defaults::log_retry_limit, [this, mine = std::move(mine),
                                                          changed = std::move(changed)]() mutable {
        campaign(std::move(mine), std::move(changed));
      });
    compaction_ = std::make_unique<log_compaction>(*log_, mine.compaction_interval);
    election_ = std::make_unique<election>(*log_, std::move(mine.node), mine.lease,
                                           [this, changed = std::move(changed)](revision fence) {
                                             {
                                               const std::lock_guard lock{mutex_};
                                               shown_leader_.is_here = fence != 0;
                                             }
                                             changed(fence);
                                           });
    election_->begin(leader_);
  });
}

void replicated_store::resign(std::function<void()> done) {
  log_->call_later({}, [this, done = std::move(done)] {
    if (!election_) return done();
    // 0 is not used as a sequence.
    election_->resign({member_, 0}, done);
  });
}

// Shows a new leader only when all earlier steps are visible here.
void replicated_store::observe_leader(const leader_record& seen) {
  if (seen.term != leader_.term) {
    const std::lock_guard lock{mutex_};
    if (seen.term != 0) ++shown_leader_.changes;
    if (leader_.term != 0) {
      // A record of another term does not tell how the previous one ended.
      shown_leader_.reason = reason_of(leader_.node, seen.ended);
      count(shown_leader_.ends, seen.ended);
    }
    shown_leader_.node = seen.node;
    shown_leader_.term = seen.term;
    shown_leader_.since = seen.since;
  }
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
  shown.leader = shown_leader_;
  shown.log_full = is_full_;
  const auto silence = std::chrono::steady_clock::now() - heard_;
  shown.read_only = shown.read_only || restored_ || !is_following_ || session_revision_ == 0 ||
                    silence > limits_.check_period + defaults::log_silence_limit;
  return shown;
}

std::optional<error> replicated_store::refusal() const {
  if (!is_restored_) return std::nullopt;
  const std::lock_guard lock{mutex_};
  return restored_;
}

// -- reading a whole state ------------------------------------------------------------------------

void replicated_store::read_whole_state() {
  if (restored_ || !apply_ready()) return;
  stop_following();
  reading_ = std::make_unique<whole_state>(read());
  const auto reading = ++readings_;
  log_->list({}, [this, reading](expected<log_page> page) { on_page(reading, std::move(page)); });
}

// Ignores a page of an older reading, which was restarted: its gaps would look like removed
// objects.
void replicated_store::on_page(std::uint64_t reading, expected<log_page> page) {
  if (reading_ == nullptr || reading != readings_) return;
  const bool more = page && page->more;
  auto last = page && !page->items.empty() ? page->items.back().key : std::string{};
  auto taken = page ? reading_->add(std::move(*page)) : fail(std::move(page.error()));
  if (taken && more)
    return log_->list({std::move(last), reading_->at()}, [this, reading](expected<log_page> next) {
      on_page(reading, std::move(next));
    });
  if (taken && reading_->is_restored(identity_))
    return refuse_restored("another control plane has seen that");
  const auto at = reading_->at();
  const auto leader = reading_->leader();
  const auto anchor = reading_->anchor();
  if (taken) {
    std::vector<decided_step> step;
    step.push_back(reading_->difference());
    const auto differences = step.front().changes.size();
    const auto made = std::move(take(std::move(step)).front());
    if (!made) taken = fail(made.error());
    if (made)
      spdlog::info("store: the state at revision {} was read, {} objects differed", at,
                   differences);
  }
  if (!taken) return retry(taken.error(), [this] { read_whole_state(); });
  reading_.reset();
  is_wrong_ = false;
  applied_ = accepted_ = at;
  anchor_ = anchor;
  // Their steps may be among those that were compacted before they were seen.
  answer_all([](const pending& each) -> std::optional<error> {
    if (each.session == 0 || each.decided) return std::nullopt;
    return error{errc::unknown, "the log no longer shows whether this was committed"};
  });
  observe_leader(leader);
  is_leader_known_ = true;
  follow();
}

// -- the audit ------------------------------------------------------------------------------------

// Called periodically.
void replicated_store::audit() {
  // After the disk has failed, the state here may be newer than `applied_`.
  if (!is_following_ || read().at() > applied_) return;
  if (is_wrong_) {
    const std::lock_guard lock{mutex_};
    return raise_session();
  }
  audit_.check(*log_, read(), applied_, [this, reading = readings_](const audit_result& found) {
    if (reading == readings_) on_difference(found);
  });
}

// Clients have seen the state up to this revision, and must notice that it was replaced. So the
// state is read at a revision that is new here: that of the raised session.
void replicated_store::on_difference(const audit_result& found) {
  spdlog::error("store: objects differ from the log, {} in all, reading the whole state: {}",
                found.differences, fmt::join(found.examples, "; "));
  is_wrong_ = true;
  const std::lock_guard lock{mutex_};
  differences_ += found.differences;
  raise_session();
}

std::uint64_t replicated_store::audit_differences() const {
  const std::lock_guard lock{mutex_};
  return differences_;
}

// -- barriers -------------------------------------------------------------------------------------

// The first of several asks on its own thread, which is faster than waking that of the log.
void replicated_store::barrier(barrier_completion done) {
  bool is_taken = false, is_first = false;
  if (const auto refused = refusal()) return done(fail(*refused));
  {
    const std::lock_guard lock{mutex_};
    is_taken = questions_.size() < replica_->options().queue_limit;
    if (is_taken) {
      questions_.push_back({std::move(done), next_sequence_, std::chrono::steady_clock::now()});
      is_first = begin_asking();
    }
  }
  if (is_first) request_newest();
  if (!is_taken)
    done(fail(errc::overloaded, "too many requests wait for the newest state: try again later"));
}

// One request at a time: questions that arrive meanwhile share the next. Called with the lock.
// True: the caller must request it when it has released the lock.
bool replicated_store::begin_asking() {
  const auto is_new = [](const question& each) { return !each.asked; };
  if (asking_ || std::none_of(questions_.begin(), questions_.end(), is_new)) return false;
  asking_ = true;
  asked_known_ = known_;
  for (auto& each : questions_)
    each.asked = true;
  return true;
}

void replicated_store::request_newest() {
  log_->newest([this](const expected<revision>& newest) { on_newest(newest); });
}

void replicated_store::on_newest(expected<revision> newest) {
  std::vector<barrier_completion> failed;
  bool again = false;
  {
    const std::lock_guard lock{mutex_};
    // It was restored, or a member has answered with an old state: check() finds out.
    if (newest && *newest < asked_known_)
      newest = fail(errc::read_only, "the log of the cluster is behind its newest known revision");
    const bool is_lost = !newest && newest.error().code == errc::unknown;
    if (newest) {
      known_ = std::max(known_, *newest);
      question_retry_after_ = defaults::log_retry_first;
    }
    for (auto& each : questions_) {
      if (!each.asked || each.newest != 0) continue;
      if (newest)
        each.newest = *newest;
      else if (is_lost)
        each.asked = false;
      else
        failed.push_back(std::move(each.done));
    }
    std::erase_if(questions_, [](const question& each) { return !each.done; });
    if (is_lost) {
      ask_later();
    } else {
      asking_ = false;
      again = begin_asking();
    }
  }
  if (again) request_newest();
  for (const auto& each : failed)
    each(fail(newest.error()));
  answer_ready();
}

// Called with the lock. Another member of the log may answer; expire_old() ends the wait. Questions
// that arrive meanwhile wait, too.
void replicated_store::ask_later() {
  log_->call_later(question_retry_after_, [this] {
    {
      const std::lock_guard lock{mutex_};
      asking_ = false;
      if (!begin_asking()) return;
    }
    request_newest();
  });
  question_retry_after_ = std::min<std::chrono::milliseconds>(2 * question_retry_after_,
                                                              defaults::log_session_retry_limit);
}

// Answers all that waited for the current state.
void replicated_store::answer_ready() {
  std::vector<later> ready;
  {
    const std::lock_guard lock{mutex_};
    known_ = std::max(known_, applied_);
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

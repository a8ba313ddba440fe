// The part of replicated_store that applies the log's steps to the replica.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "persistence/replica/replicated_store.hpp"

namespace troupe::persistence {

namespace {

std::size_t size_of(const decided_step& step) {
  std::size_t bytes = 0;
  for (const auto& each : step.changes)
    bytes += each.key.size() + each.stored.size();
  return bytes;
}

}  // namespace

void replicated_store::on_steps(std::vector<log_step> steps) {
  for (auto& each : steps) {
    if (!is_following_) return;
    if (each.at <= accepted_) continue;
    if (each.at != accepted_ + 1) {
      spdlog::error("store: the log went from revision {} to {}: reading the whole state",
                    accepted_, each.at);
      return read_whole_state();
    }
    if (is_restored(each, identity_)) return refuse_restored("another control plane has seen that");
    auto next = persistence::read(std::move(each));
    if (!next) {
      if (apply_ready()) retry(next.error(), [this] { follow(); });
      return;
    }
    accept(std::move(*next));
    accept_answered();
  }
}

// The step is applied together with others that wait in the queue of the log's thread.
void replicated_store::accept(read_step next) {
  accepted_ = next.step.at;
  ready_bytes_ += size_of(next.step);
  ready_.push_back(std::move(next));
  if (ready_.size() == 1) log_->call_later({}, [this] { apply_ready(); });
  if (ready_.size() >= defaults::step_batch || ready_bytes_ >= defaults::step_batch_bytes)
    apply_ready();
}

// Accepts own steps that the log has answered and that follow now; the stream repeats them.
void replicated_store::accept_answered() {
  while (is_following_ && !answered_.empty()) {
    const auto [at, sequence] = *answered_.begin();
    if (at > accepted_ + 1) return;
    answered_.erase(answered_.begin());
    if (at <= accepted_) continue;
    if (auto step = step_of(sequence, at)) accept(std::move(*step));
  }
}

// Builds the step as the log would deliver it; nullopt if its transaction no longer waits.
std::optional<read_step> replicated_store::step_of(std::uint64_t sequence, revision at) {
  const std::lock_guard lock{mutex_};
  const auto found = pending_.find(sequence);
  if (found == pending_.end()) return std::nullopt;
  auto& from = found->second;
  read_step made{{at, {}, from.cause.cause, from.cause.time}, log_tag{member_, sequence}, {}};
  for (std::size_t i = 0; i < from.mutations.size(); ++i) {
    auto& each = from.mutations[i];
    auto& next = made.step.changes.emplace_back(decided_change{each.key, nullptr, {}, 0});
    if (each.content == nullptr) continue;
    next.object = std::make_shared<const api::object>(*each.kind, std::move(each.content), at);
    next.stored = std::move(*from.request.writes[i].value);
  }
  return made;
}

// Returns false if the replica's disk fails: the log will deliver the steps again.
bool replicated_store::apply_ready() {
  auto steps = std::exchange(ready_, {});
  ready_bytes_ = 0;
  std::vector<std::vector<std::string>> keys(steps.size());
  std::vector<decided_step> seen;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const auto& each : steps[i].step.changes)
      keys[i].push_back(each.key);
    // A step without a visible change leaves no trace.
    if (!keys[i].empty()) seen.push_back(std::move(steps[i].step));
  }
  auto shown = read().at();
  auto made = seen.empty() ? std::vector<outcome>{} : take(std::move(seen));
  auto next = made.begin();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto& each = steps[i];
    outcome result = keys[i].empty() ? outcome{committed{shown, {}}} : std::move(*next++);
    if (!result) {
      retry(result.error(), [this] { follow(); });
      return false;
    }
    applied_ = each.step.at;
    shown = result->at;
    if (each.tag) anchor_ = {applied_, *each.step.time};
    retry_after_ = defaults::log_retry_first;
    if (each.tag && each.tag->member == member_) answer_own(each.tag->sequence, keys[i], *result);
    answer_ready();
    if (each.leader) observe_leader(*each.leader);
  }
  return true;
}

// Ignores steps of an earlier process, which used the same sequences before the session was raised.
void replicated_store::answer_own(std::uint64_t sequence, const std::vector<std::string>& keys,
                                  const committed& made) {
  committed mine{made.at, {}};
  {
    const std::lock_guard lock{mutex_};
    const auto found = pending_.find(sequence);
    if (found == pending_.end() || found->second.session == 0 || found->second.session > applied_)
      return;
    for (const auto& each : found->second.mutations) {
      const auto place = std::find(keys.begin(), keys.end(), each.key);
      mine.objects.push_back(place == keys.end()
                                 ? nullptr
                                 : made.objects[static_cast<std::size_t>(place - keys.begin())]);
    }
  }
  answer(sequence, std::move(mine));
}

// The replica commits on the calling thread.
std::vector<outcome> replicated_store::take(std::vector<decided_step> steps) {
  const std::lock_guard lock{replica_mutex_};
  std::vector<outcome> made(steps.size(), fail(errc::io, "the replica did not answer"));
  replica_->follow(std::move(steps),
                   [&made](std::size_t index, outcome result) { made[index] = std::move(result); });
  return made;
}

// Not before the log is known to have the history of the state here.
void replicated_store::follow() {
  if (restored_ || is_verifying_ || !apply_ready()) return;
  if (anchor_.at == 0) return follow_same();
  is_verifying_ = true;
  log_->list({std::string{own_prefix}, anchor_.at},
             [this, anchor = anchor_](const expected<log_page>& page) { on_anchor(anchor, page); });
}

void replicated_store::on_anchor(const log_anchor& anchor, const expected<log_page>& page) {
  is_verifying_ = false;
  if (restored_ || reading_ != nullptr) return;
  if (page && !anchor.is_in(*page))
    return refuse_restored(fmt::format("its revision {} is not that of the state here", anchor.at));
  // A compacted history cannot be compared.
  if (page || page.error().code == errc::compacted) return follow_same();
  retry_follow(page.error());
}

void replicated_store::retry_follow(const error& reason) {
  if (reason.code == errc::future_revision) {
    const std::lock_guard lock{mutex_};
    raise_session();
  }
  retry(reason, [this] { follow(); });
}

void replicated_store::follow_same() {
  if (!apply_ready()) return;
  if (!is_leader_known_) return find_leader();
  log_->follow(applied_, *this);
  {
    const std::lock_guard lock{mutex_};
    is_following_ = true;
  }
  accept_answered();
  send_waiting();
  answer_ready();
}

// The leader at the revision of the copy: the steps that follow tell of later ones. If that
// revision is compacted, so are the steps, and the whole state is read.
void replicated_store::find_leader() {
  is_verifying_ = true;
  const auto before = leader_key.substr(0, leader_key.size() - 1);
  log_->list({std::string{before}, applied_}, [this](const expected<log_page>& page) {
    is_verifying_ = false;
    if (restored_ || reading_ != nullptr) return;
    if (!page && page.error().code != errc::compacted) return retry_follow(page.error());
    if (page && !page->items.empty() && page->items.front().key == leader_key)
      observe_leader(read_leader(page->items.front().created, page->items.front().value));
    is_leader_known_ = true;
    follow_same();
  });
}

void replicated_store::on_end(error reason) {
  if (!apply_ready()) return;
  if (reason.code != errc::compacted) return retry(reason, [this] { follow(); });
  spdlog::warn("store: {}: reading the whole state", reason.message);
  read_whole_state();
}

void replicated_store::retry(const error& reason, std::function<void()> work) {
  spdlog::warn("store: cannot follow the shared log, retrying: {}", reason.message);
  reading_.reset();
  stop_following();
  ready_.clear();
  ready_bytes_ = 0;
  accepted_ = applied_;
  log_->call_later(retry_after_, std::move(work));
  retry_after_ = std::min<std::chrono::milliseconds>(2 * retry_after_, defaults::log_retry_limit);
}

// The changes of the state here after the backup do not exist any more.
void replicated_store::refuse_restored(const std::string& reason) {
  if (restored_) return;
  const error restored{errc::restored,
                       "the log of the cluster was restored from a backup: restart this control "
                       "plane"};
  spdlog::error("store: {} ({})", restored.message, reason);
  reading_.reset();
  std::vector<question> questions;
  {
    const std::lock_guard lock{mutex_};
    restored_ = restored;
    is_restored_ = true;
    is_following_ = false;
    questions.swap(questions_);
  }
  if (election_) election_->stop();
  answer_all([&](const pending& each) {
    return each.session == 0 ? restored : error{errc::unknown, restored.message};
  });
  for (const auto& each : questions)
    each.done(fail(restored));
}

// Stops sending: the steps of new transactions would not be seen.
void replicated_store::stop_following() {
  const std::lock_guard lock{mutex_};
  is_following_ = false;
}

}  // namespace troupe::persistence

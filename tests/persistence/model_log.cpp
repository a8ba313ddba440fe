#include "persistence/model_log.hpp"

#include <algorithm>
#include <utility>

#include "persistence/replica/log_record.hpp"

namespace troupe::persistence::testing {

namespace {

// Requests that may overtake each other, steps and items that are delivered at once.
constexpr std::size_t overtaking = 3, most_steps = 4, page = 5;
constexpr std::chrono::seconds slow{1};

}  // namespace

// -- the log --------------------------------------------------------------------------------------

log_answer model_cluster::execute(const log_transaction& request) {
  const std::lock_guard lock{mutex_};
  if (is_full_ && std::any_of(request.writes.begin(), request.writes.end(),
                              [](const auto& each) { return each.value; })) {
    log_answer refused{log_answer::outcome::refused};
    refused.reason = {errc::no_space, "etcd: database space exceeded"};
    return refused;
  }
  for (std::size_t i = 0; i < request.compares.size(); ++i) {
    const auto& wanted = request.compares[i];
    const auto end =
        wanted.end.empty() ? state_.upper_bound(wanted.key) : state_.lower_bound(wanted.end);
    revision actual = 0;
    for (auto found = state_.lower_bound(wanted.key); found != end; ++found)
      actual = std::max(actual, wanted.created ? found->second.created : found->second.modified);
    if (!holds(wanted, actual)) return {log_answer::outcome::conflict, newest_, i, actual};
  }
  for (const auto& each : request.writes)
    if (each.lease != 0 && !leases_.contains(each.lease)) {
      log_answer refused{log_answer::outcome::refused};
      refused.reason = {errc::read_only, "the lease has ended"};
      refused.lease_ended = true;
      return refused;
    }
  log_step made{newest_ + 1, {}};
  for (const auto& each : request.writes) {
    const auto found = state_.find(each.key);
    if (!each.value) {
      if (found == state_.end()) continue;
      state_.erase(found);
      made.changes.push_back({each.key, std::nullopt, 0});
      continue;
    }
    const auto created = found == state_.end() ? made.at : found->second.created;
    state_[each.key] = {*each.value, created, made.at, each.lease};
    made.changes.push_back({each.key, each.value, created});
  }
  if (!made.changes.empty()) {
    newest_ = made.at;
    witness_.push_back(made);
    steps_.push_back(std::move(made));
  }
  return {log_answer::outcome::committed, newest_};
}

lease_id model_cluster::grant() {
  const std::lock_guard lock{mutex_};
  leases_.insert(next_lease_);
  return next_lease_++;
}

bool model_cluster::lives(lease_id lease) const {
  const std::lock_guard lock{mutex_};
  return leases_.contains(lease);
}

lease_id model_cluster::lease_of(const std::string& key) const {
  const std::lock_guard lock{mutex_};
  const auto found = state_.find(key);
  return found == state_.end() ? 0 : found->second.lease;
}

// All its keys are deleted at one revision.
void model_cluster::end(lease_id lease) {
  log_transaction removal;
  {
    const std::lock_guard lock{mutex_};
    leases_.erase(lease);
    for (const auto& [key, each] : state_)
      if (each.lease == lease) removal.writes.push_back({key, std::nullopt});
  }
  execute(removal);
}

void model_cluster::end_all_leases() {
  std::set<lease_id> all;
  {
    const std::lock_guard lock{mutex_};
    all = leases_;
  }
  for (const auto lease : all)
    end(lease);
}

void model_cluster::full(bool is_full) {
  const std::lock_guard lock{mutex_};
  is_full_ = is_full;
}

revision model_cluster::newest() const {
  const std::lock_guard lock{mutex_};
  return newest_;
}

void model_cluster::compact(revision up_to) {
  const std::lock_guard lock{mutex_};
  base_ = at(up_to);
  compacted_ = up_to;
  std::erase_if(steps_, [up_to](const log_step& each) { return each.at <= up_to; });
}

void model_cluster::restore(revision to) {
  const std::lock_guard lock{mutex_};
  auto before = std::exchange(state_, at(to));
  for (auto& [key, each] : state_)
    if (const auto& last = before[key]; last.modified == each.modified) each.lease = last.lease;
  newest_ = to;
  std::erase_if(steps_, [to](const log_step& each) { return each.at > to; });
  ++restores_;
}

int model_cluster::restores() const {
  const std::lock_guard lock{mutex_};
  return restores_;
}

model_cluster::state model_cluster::at(revision at) const {
  auto made = base_;
  for (const auto& each : steps_) {
    if (each.at > at) break;
    for (const auto& change : each.changes)
      if (change.value)
        made[change.key] = {*change.value, change.created, each.at, 0};
      else
        made.erase(change.key);
  }
  return made;
}

expected<std::vector<log_step>> model_cluster::steps(revision after, std::size_t limit) const {
  const std::lock_guard lock{mutex_};
  if (after < compacted_) return fail(errc::compacted, "what follows is not kept any more");
  std::vector<log_step> found;
  for (const auto& each : steps_)
    if (each.at > after && found.size() < limit) found.push_back(each);
  return found;
}

expected<log_page> model_cluster::list(const log_range& range, std::size_t limit) const {
  const std::lock_guard lock{mutex_};
  if (range.at != 0 && range.at < compacted_)
    return fail(errc::compacted, "the revision is not kept any more");
  if (range.at > newest_) return fail(errc::future_revision, "the revision has not happened yet");
  log_page found{range.at == 0 ? newest_ : range.at, {}, false};
  const auto all = at(found.at);
  for (auto next = all.upper_bound(range.after); next != all.end(); ++next) {
    found.more = found.items.size() == limit;
    if (found.more) break;
    const auto& [key, item] = *next;
    found.items.push_back(
        {key, range.keys_only ? std::string{} : item.value, item.created, item.modified});
  }
  return found;
}

std::map<std::string, std::string> model_cluster::values() const {
  const std::lock_guard lock{mutex_};
  std::map<std::string, std::string> all;
  for (const auto& [key, each] : state_)
    all[key] = each.value;
  return all;
}

std::optional<log_item> model_cluster::find(const std::string& key) const {
  const std::lock_guard lock{mutex_};
  const auto found = state_.find(key);
  if (found == state_.end()) return std::nullopt;
  return log_item{key, found->second.value, found->second.created, found->second.modified};
}

// -- a connection ---------------------------------------------------------------------------------

model_log::model_log(model_cluster& cluster, model_faults faults)
    : cluster_{cluster}, faults_{faults}, random_{faults.seed} {
  if (faults_.threaded) thread_ = std::thread{[this] { work(); }};
}

model_log::~model_log() {
  close();
}

void model_log::close() {
  {
    const std::lock_guard lock{mutex_};
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void model_log::add(event next) {
  {
    const std::lock_guard lock{mutex_};
    events_.push_back(std::move(next));
  }
  changed_.notify_all();
}

void model_log::identity(std::function<void(expected<std::string>)> done) {
  add([done = std::move(done)] { done(std::string{"model"}); });
}

void model_log::read(std::string key, std::function<void(expected<std::optional<log_item>>)> done) {
  add([this, key = std::move(key), done = std::move(done)] { done(cluster_.find(key)); });
}

void model_log::submit(log_transaction request, std::function<void(log_answer)> done) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock{mutex_};
    number = next_request_++;
    sent_.emplace(number, std::move(request));
  }
  add([this, number, done = std::move(done)] { carry_out(take_sent(number), done); });
}

log_transaction model_log::take_sent(std::uint64_t number) {
  const std::lock_guard lock{mutex_};
  return std::move(sent_.extract(number).mapped());
}

std::vector<log_transaction> model_log::unfinished() {
  const std::lock_guard lock{mutex_};
  auto all = late_;
  for (const auto& [number, request] : sent_)
    all.push_back(request);
  return all;
}

void model_log::carry_out(const log_transaction& request,
                          const std::function<void(log_answer)>& done) {
  std::uniform_real_distribution<> chance;
  log_answer lost{log_answer::outcome::unknown};
  lost.reason.message = "the answer was lost";
  double lose = 1, later = 1;
  {
    const std::lock_guard lock{mutex_};
    lose = chance(random_);
    later = chance(random_);
    if (silent_) return;
    if (lose < faults_.lost && later < faults_.late) late_.push_back(request);
  }
  if (lose >= faults_.lost) {
    const auto answer = cluster_.execute(request);
    return add([done, answer] { done(answer); });
  }
  // Otherwise it happens now or never.
  if (later >= faults_.late && later < (1 + faults_.late) / 2) cluster_.execute(request);
  add([done, lost] { done(lost); });
}

void model_log::newest(std::function<void(expected<revision>)> done) {
  add([this, done = std::move(done)] {
    const auto newest = cluster_.newest();
    add([done, newest] { done(newest); });
  });
}

void model_log::follow(revision after, log_reader& reader) {
  {
    const std::lock_guard lock{mutex_};
    reader_ = &reader;
    position_ = after;
    restores_ = cluster_.restores();
    stalled_ = false;
  }
  changed_.notify_all();
}

void model_log::list(log_range range, std::function<void(expected<log_page>)> done) {
  add([this, range = std::move(range), done = std::move(done)] {
    auto found = cluster_.list(range, page);
    add([done, found = std::move(found)] { done(found); });
  });
}

void model_log::grant(std::chrono::seconds, std::function<void(expected<lease_id>)> done) {
  add([this, done = std::move(done)] { done(cluster_.grant()); });
}

void model_log::renew(lease_id lease, std::chrono::milliseconds,
                      std::function<void(expected<std::chrono::seconds>)> done) {
  add([this, lease, done = std::move(done)] {
    done(std::chrono::seconds{cluster_.lives(lease) ? 10 : 0});
  });
}

void model_log::compact(revision up_to, std::function<void(expected<void>)> done) {
  add([this, up_to, done = std::move(done)] {
    cluster_.compact(up_to);
    done({});
  });
}

void model_log::revoke(lease_id lease, std::function<void()> done) {
  add([this, lease, done = std::move(done)] {
    cluster_.end(lease);
    done();
  });
}

void model_log::stall_steps() {
  const std::lock_guard lock{mutex_};
  stalled_ = true;
}

void model_log::resume_steps() {
  const std::lock_guard lock{mutex_};
  stalled_ = false;
}

void model_log::stall_answers() {
  const std::lock_guard lock{mutex_};
  silent_ = true;
}

// Only the test advances repeated work.
void model_log::call_later(std::chrono::milliseconds delay, std::function<void()> work) {
  if (delay < slow) return add(std::move(work));
  const std::lock_guard lock{mutex_};
  slow_.push_back(std::move(work));
}

void model_log::fire_slow() {
  std::deque<event> all;
  {
    const std::lock_guard lock{mutex_};
    all.swap(slow_);
  }
  for (const auto& each : all)
    each();
}

bool model_log::is_behind() const {
  return reader_ != nullptr && !stalled_ &&
         (position_ < cluster_.newest() || restores_ != cluster_.restores());
}

// Under the lock.
model_log::event model_log::next_steps() {
  auto& reader = *reader_;
  if (std::uniform_real_distribution{}(random_) < faults_.cut || restores_ != cluster_.restores()) {
    reader_ = nullptr;
    return [&reader] { reader.on_end({errc::io, "the stream was cut"}); };
  }
  auto found = cluster_.steps(position_, 1 + random_() % most_steps);
  if (!found) {
    reader_ = nullptr;
    return [&reader, reason = found.error()] { reader.on_end(reason); };
  }
  position_ = found->back().at;
  // Some are delivered twice.
  if (random_() % 8 == 0) position_ = found->front().at;
  if (faults_.partial > 0) lose_parts(*found);
  return [&reader, steps = std::move(*found)] { reader.on_steps(steps); };
}

// Under the lock.
void model_log::lose_parts(std::vector<log_step>& steps) {
  for (auto& each : steps) {
    std::vector<std::size_t> objects;
    for (std::size_t i = 0; i < each.changes.size(); ++i)
      if (!each.changes[i].key.starts_with(own_prefix)) objects.push_back(i);
    if (objects.size() < 2 || std::uniform_real_distribution{}(random_) >= faults_.partial)
      continue;
    const auto lost = objects[random_() % objects.size()];
    each.changes.erase(each.changes.begin() + static_cast<std::ptrdiff_t>(lost));
  }
}

model_log::event model_log::choose() {
  if (!late_.empty() && random_() % 4 == 0) {
    const auto chosen = static_cast<std::ptrdiff_t>(random_() % late_.size());
    auto request = std::move(late_[static_cast<std::size_t>(chosen)]);
    late_.erase(late_.begin() + chosen);
    return [this, request = std::move(request)] { cluster_.execute(request); };
  }
  if (is_behind() && (events_.empty() || random_() % 2 == 0)) return next_steps();
  if (events_.empty()) return {};
  const auto chosen = static_cast<std::ptrdiff_t>(random_() % std::min(events_.size(), overtaking));
  auto next = std::move(events_[static_cast<std::size_t>(chosen)]);
  events_.erase(events_.begin() + chosen);
  return next;
}

bool model_log::step() {
  event next;
  {
    const std::lock_guard lock{mutex_};
    next = choose();
  }
  if (!next) return false;
  next();
  return true;
}

void model_log::run() {
  while (step()) {
  }
}

// There is no notification for steps of other connections: polls for them.
void model_log::work() {
  int idle = 0;
  for (;;) {
    while (step()) {
      const std::lock_guard lock{mutex_};
      if (closing_) return;
    }
    std::unique_lock lock{mutex_};
    if (closing_) return;
    changed_.wait_for(lock, std::chrono::milliseconds{1});
    lock.unlock();
    if (++idle % 100 == 0) fire_slow();
  }
}

}  // namespace troupe::persistence::testing

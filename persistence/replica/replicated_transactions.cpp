// The part of replicated_store that sends transactions to the log and answers them.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "persistence/replica/replicated_store.hpp"

namespace troupe::persistence {

namespace {

// Checks the local state: concurrent transactions elsewhere may exceed a
// bound.
expected<void> check_bounds(const transaction& request, const std::vector<std::string>& stored,
                            const snapshot& state) {
  for (const auto& allowed : request.bounds) {
    const bool bytes = allowed.unit == bound::measure::bytes;
    std::uint64_t more = 0;
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const auto& key = request.mutations[i].key;
      if (request.mutations[i].content == nullptr || state.find(key) != nullptr) continue;
      if (bytes || key.starts_with(allowed.prefix))
        more += bytes ? key.size() + stored[i].size() : 1;
    }
    if (more == 0) continue;
    const std::uint64_t actual = bytes ? state.stored_bytes() : state.count(allowed.prefix);
    if (actual + more > allowed.limit) return fail(exceeded(allowed, actual));
  }
  return {};
}

error conflict_of(const log_compare& failed, revision actual) {
  if (failed.end.empty()) return conflict({failed.key, failed.at}, actual);
  return {errc::conflict,
          "another control plane has committed a transaction of the same group: try again",
          failed.key, actual};
}

error leadership_lost() {
  return {errc::leadership_lost, "this control plane does not lead any more"};
}

}  // namespace

void replicated_store::submit(transaction request, completion done) {
  auto stored = encode(request, replica_->options().value_limit_bytes);
  if (!stored) return done(fail(std::move(stored.error())));
  if (std::max(stored->size(), request.preconditions.size()) > transaction_limit())
    return done(fail(errc::invalid, fmt::format("a transaction of {} changes is larger than the {} "
                                                "that the log takes",
                                                stored->size(), transaction_limit())));
  if (auto bounded = check_bounds(request, *stored, read()); !bounded)
    return done(fail(std::move(bounded.error())));
  pending next;
  next.since = std::chrono::steady_clock::now();
  next.done = std::move(done);
  next.fence = request.fence;
  next.cause = {{}, std::move(request.cause), replica_->now()};
  for (auto& each : request.preconditions)
    next.request.compares.push_back({std::move(each.key), each.at});
  if (request.group) {
    next.group_key = group_key(request.group->name, member_);
    for (auto& each : group_compares(*request.group, member_))
      next.request.compares.push_back(std::move(each));
  }
  for (std::size_t i = 0; i < stored->size(); ++i) {
    log_write write{request.mutations[i].key, std::nullopt};
    if (request.mutations[i].content != nullptr) write.value = std::move((*stored)[i]);
    next.request.writes.push_back(std::move(write));
  }
  next.mutations = std::move(request.mutations);
  for (const auto& each : next.request.writes)
    next.size_bytes += each.key.size() + (each.value ? each.value->size() : 0);
  std::unique_lock lock{mutex_};
  if (restored_) {
    lock.unlock();
    return next.done(fail(*restored_));
  }
  if (pending_.size() >= replica_->options().queue_limit ||
      pending_bytes_ + next.size_bytes > defaults::log_queue_bytes) {
    auto full = fmt::format("{} transactions of {} bytes wait for the log: try again later",
                            pending_.size(), pending_bytes_);
    lock.unlock();
    return next.done(fail(errc::overloaded, std::move(full)));
  }
  pending_bytes_ += next.size_bytes;
  waiting_.push_back(next_sequence_);
  pending_.emplace(next_sequence_++, std::move(next));
  if (!std::exchange(sending_, true)) log_->call_later({}, [this] { send_waiting(); });
}

log_transaction replicated_store::complete(std::uint64_t sequence, const pending& from) const {
  auto made = from.request;
  if (made.writes.empty()) return made;
  made.compares.push_back({session_key(member_), session_revision_});
  if (from.fence != 0) made.compares.push_back({std::string{leader_key}, from.fence, true});
  if (from.without_cause) return made;
  if (!from.group_key.empty()) made.writes.push_back({from.group_key, std::string{}});
  auto cause = from.cause;
  cause.tag = {member_, sequence};
  made.writes.push_back({std::string{cause_key}, cause_text(cause)});
  return made;
}

// On the log's thread, which sends several at once when it is busy: callers of submit would contend
// for the client's locks. Without our lock, since the client writes to its socket.
void replicated_store::send_waiting() {
  std::vector<std::pair<std::uint64_t, log_transaction>> sent;
  {
    const std::lock_guard lock{mutex_};
    sending_ = false;
    const bool can_send = is_following_ && session_revision_ != 0;
    while (can_send && !waiting_.empty() && under_way_ < defaults::log_window) {
      const auto sequence = waiting_.front();
      waiting_.pop_front();
      const auto found = pending_.find(sequence);
      if (found == pending_.end()) continue;
      found->second.session = session_revision_;
      ++under_way_;
      sent.emplace_back(sequence, complete(sequence, found->second));
    }
  }
  for (auto& [sequence, request] : sent)
    log_->submit(std::move(request), [this, sequence = sequence](const log_answer& reply) {
      on_answer(sequence, reply);
    });
}

void replicated_store::on_answer(std::uint64_t sequence, const log_answer& reply) {
  {
    const std::lock_guard lock{mutex_};
    --under_way_;
    known_ = std::max(known_, reply.at);
    // If it is not found, its step has arrived before.
    if (const auto found = pending_.find(sequence); found != pending_.end())
      evaluate(sequence, found->second, reply);
  }
  accept_answered();
  send_waiting();
  answer_ready();
}

// Called with the lock.
void replicated_store::evaluate(std::uint64_t sequence, pending& mine, const log_answer& reply) {
  const auto& compares = mine.request.compares;
  note_full(reply, mine.without_cause || mine.request.writes.empty());
  switch (reply.result) {
    case log_answer::outcome::committed:
      if (mine.without_cause) return answer_removal(reply.at, sequence);
      if (!mine.request.writes.empty()) {
        answered_.emplace(reply.at, sequence);
        return;
      }
      return answer_when_applied(reply.at, sequence, committed{reply.at, {}});
    case log_answer::outcome::conflict:
      // The request's own compares are followed by those of the session and the term (complete()).
      if (reply.compare == compares.size()) {
        if (session_revision_ == mine.session) session_revision_ = reply.actual;
        if (session_revision_ == 0) raise_session();  // the session's key was deleted
        return send_again(sequence);
      }
      if (reply.compare > compares.size())
        return answer_when_applied(reply.at, sequence, fail(leadership_lost()));
      ++conflicts_;
      return answer_when_applied(reply.at, sequence,
                                 fail(conflict_of(compares[reply.compare], reply.actual)));
    case log_answer::outcome::refused:
      if (reply.reason.code == errc::no_space) {
        refused_.emplace_back(sequence, reply.reason);
        return settle_full();
      }
      return answer_when_applied(0, sequence, fail(reply.reason));
    case log_answer::outcome::unknown:
      // No step will tell that it was committed.
      if (mine.without_cause) return answer_when_applied(0, sequence, fail(reply.reason));
      mine.unknown = true;
      return raise_session();
  }
}

// Called with the lock.
void replicated_store::when_applied(revision at, std::function<void()> work) {
  later_.push_back({at, std::move(work)});
}

// Called with the lock.
void replicated_store::answer_when_applied(revision at, std::uint64_t sequence, outcome result) {
  pending_.at(sequence).decided = true;
  when_applied(at, [this, sequence, result = std::move(result)]() mutable {
    // A transaction without writes has no revision of its own.
    if (result && result->objects.empty()) result->at = std::min(result->at, read().at());
    answer(sequence, std::move(result));
  });
}

// Called with the lock; send_waiting() sends it.
void replicated_store::send_again(std::uint64_t sequence) {
  auto& mine = pending_.at(sequence);
  mine.session = 0;
  mine.unknown = false;
  waiting_.insert(std::lower_bound(waiting_.begin(), waiting_.end(), sequence), sequence);
}

void replicated_store::answer(std::uint64_t sequence, outcome result) {
  completion done;
  {
    const std::lock_guard lock{mutex_};
    const auto found = pending_.find(sequence);
    if (found == pending_.end()) return;
    done = std::move(found->second.done);
    pending_bytes_ -= found->second.size_bytes;
    pending_.erase(found);
  }
  done(std::move(result));
}

void replicated_store::answer_all(
    const std::function<std::optional<error>(const pending&)>& evaluate) {
  std::vector<std::pair<completion, error>> all;
  {
    const std::lock_guard lock{mutex_};
    std::erase_if(pending_, [&](auto& entry) {
      auto& each = entry.second;
      auto reason = evaluate(each);
      if (!reason) return false;
      pending_bytes_ -= each.size_bytes;
      all.emplace_back(std::move(each.done), std::move(*reason));
      return true;
    });
  }
  for (auto& [done, reason] : all)
    done(fail(std::move(reason)));
}

// -- the session ----------------------------------------------------------------------------------

// Called with the lock. Has no compare: a delayed one that is written late raises the session once
// more, and the next transaction learns of it by its conflict.
void replicated_store::raise_session() {
  if (restored_ || std::exchange(raising_, true)) return;
  log_->submit({{}, {{session_key(member_), std::to_string(next_sequence_)}}},
               [this, before = applied_](const log_answer& reply) { on_session(reply, before); });
}

// `before`: the revision of the state here when it was sent, below that of a new write.
void replicated_store::on_session(const log_answer& reply, revision before) {
  const bool raised = reply.result == log_answer::outcome::committed;
  if (raised && reply.at <= before)
    return refuse_restored(
        fmt::format("a new write has revision {}, the state here has {}", reply.at, before));
  {
    const std::lock_guard lock{mutex_};
    raising_ = false;
    if (raised) {
      session_revision_ = std::max(session_revision_, reply.at);
      known_ = std::max(known_, reply.at);
      when_applied(reply.at, [this, at = reply.at] { on_session_applied(at); });
    }
  }
  if (raised) {
    session_retry_after_ = defaults::log_retry_first;
    if (is_wrong_ && is_following_ && reply.at > read().at()) read_whole_state();
    send_waiting();
    return answer_ready();
  }
  log_->call_later(session_retry_after_, [this] {
    const std::lock_guard lock{mutex_};
    raise_session();
  });
  session_retry_after_ = std::min<std::chrono::milliseconds>(2 * session_retry_after_,
                                                             defaults::log_session_retry_limit);
}

// A transaction sent with an older session that has not committed never will.
void replicated_store::on_session_applied(revision at) {
  {
    const std::lock_guard lock{mutex_};
    std::vector<std::uint64_t> again;
    bool raise = false;
    for (const auto& [sequence, each] : pending_) {
      if (!each.unknown) continue;
      if (each.session < at)
        again.push_back(sequence);
      else
        raise = true;  // sent with the current session, known from a conflict
    }
    if (raise) raise_session();
    for (const auto sequence : again)
      send_again(sequence);
  }
  send_waiting();
}

// -- time-outs ------------------------------------------------------------------------------------

// Runs periodically on the log's thread, as long as the store lives.
void replicated_store::check() {
  expire_old(std::chrono::steady_clock::now());
  if (restored_) return;
  // Detects missing steps even if no client asks, and a log that does not
  // answer.
  if (!std::exchange(probing_, true))
    log_->newest([this, before = applied_](const expected<revision>& newest) {
      probing_ = false;
      if (!newest) return;
      const std::lock_guard lock{mutex_};
      if (*newest < before) raise_session();  // the revision of a write is never old
      heard_ = std::chrono::steady_clock::now();
      known_ = std::max(known_, *newest);
    });
  bool is_stuck = false;
  {
    const std::lock_guard lock{mutex_};
    is_stuck = is_following_ && applied_ < known_ && applied_ == applied_then_;
  }
  applied_then_ = applied_;
  if (is_stuck) {
    spdlog::warn("store: the log is at revision {}, but no step after {} arrives: following again",
                 known_, applied_);
    follow();
  }
  audit();
  if (compaction_)
    compaction_->check(std::chrono::steady_clock::now(), applied_, election_->fence() != 0);
  log_->call_later(limits_.check_period, [this] { check(); });
}

void replicated_store::expire_old(time_point now) {
  const auto old = now - limits_.answer;
  answer_all([old](const pending& each) -> std::optional<error> {
    if (each.since > old) return std::nullopt;
    if (each.session == 0)
      return error{errc::read_only, "the log of the cluster does not answer: nothing was written"};
    return error{errc::unknown,
                 "the log of the cluster does not answer: whether this happens is "
                 "not known"};
  });
  std::vector<barrier_completion> questions;
  {
    const std::lock_guard lock{mutex_};
    std::erase_if(answered_, [this](const auto& each) { return !pending_.contains(each.second); });
    for (auto& each : questions_)
      if (each.since <= old) questions.push_back(std::move(each.done));
    std::erase_if(questions_, [](const question& each) { return !each.done; });
  }
  for (const auto& each : questions)
    each(fail(errc::unknown, "the log of the cluster does not answer"));
}

}  // namespace troupe::persistence

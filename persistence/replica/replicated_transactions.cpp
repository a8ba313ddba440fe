// replicated_store's other half: transactions on their way to the log and back.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "persistence/replica/replicated_store.hpp"

namespace troupe::persistence {

namespace {

// By what can be seen here: several control planes may exceed a bound by what is under way.
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

error deposed() {
  return {errc::deposed, "this control plane does not lead any more"};
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
  for (std::size_t i = 0; i < stored->size(); ++i) {
    const auto& key = next.keys.emplace_back(std::move(request.mutations[i].key));
    log_write write{key, std::nullopt};
    if (request.mutations[i].content != nullptr) write.value = std::move((*stored)[i]);
    next.request.writes.push_back(std::move(write));
  }
  const std::lock_guard lock{mutex_};
  if (pending_.size() >= replica_->options().queue_limit)
    return next.done(fail(errc::overloaded, fmt::format("{} transactions wait for the log: try "
                                                        "again later",
                                                        pending_.size())));
  waiting_.push_back(next_sequence_);
  pending_.emplace(next_sequence_++, std::move(next));
  send_waiting();
}

log_transaction replicated_store::complete(std::uint64_t sequence, const pending& from) const {
  auto made = from.request;
  if (made.writes.empty()) return made;
  made.compares.push_back({session_key(session_), session_revision_});
  if (from.fence != 0) made.compares.push_back({std::string{leader_key}, from.fence, true});
  auto cause = from.cause;
  cause.tag = {session_, sequence};
  made.writes.push_back({std::string{cause_key}, cause_text(cause)});
  return made;
}

// Under the lock, so that they leave in order.
void replicated_store::send_waiting() {
  const bool can_send = is_following_ && session_revision_ != 0;
  while (can_send && !waiting_.empty() && under_way_ < defaults::log_window) {
    const auto sequence = waiting_.front();
    waiting_.pop_front();
    const auto found = pending_.find(sequence);
    if (found == pending_.end()) continue;
    found->second.session = session_revision_;
    ++under_way_;
    log_->submit(complete(sequence, found->second),
                 [this, sequence](const log_answer& told) { on_answer(sequence, told); });
  }
}

void replicated_store::on_answer(std::uint64_t sequence, const log_answer& told) {
  {
    const std::lock_guard lock{mutex_};
    --under_way_;
    send_waiting();
    const auto found = pending_.find(sequence);
    if (found == pending_.end()) return;  // its step came before
    auto& mine = found->second;
    const bool is_read = mine.request.writes.empty();
    switch (told.result) {
      case log_answer::outcome::committed:
        if (!is_read) return;  // its step tells
        mine.decided = true;
        later_.push_back({told.at, [this, sequence] {
                            answer(sequence, committed{read().at(), {}});
                          }});
        break;
      case log_answer::outcome::conflict: {
        if (told.compare > mine.request.compares.size()) {
          mine.decided = true;
          later_.push_back({told.at, [this, sequence] { answer(sequence, fail(deposed())); }});
          break;
        }
        if (told.compare == mine.request.compares.size()) {
          if (session_revision_ == mine.session) session_revision_ = told.actual;
          return send_again(sequence);
        }
        ++conflicts_;
        mine.decided = true;
        const auto& wanted = mine.request.compares[told.compare];
        auto reason = conflict({wanted.key, wanted.at}, told.actual);
        later_.push_back({told.at, [this, sequence, reason] { answer(sequence, fail(reason)); }});
        break;
      }
      case log_answer::outcome::refused:
        mine.decided = true;
        later_.push_back({0, [this, sequence, why = told.reason] {
                            answer(sequence, fail(errc::read_only, why));
                          }});
        break;
      case log_answer::outcome::unknown:
        if (is_read) return send_again(sequence);
        mine.unknown = true;
        return raise_session();
    }
  }
  answer_ready();
}

// Under the lock.
void replicated_store::send_again(std::uint64_t sequence) {
  auto& mine = pending_.at(sequence);
  mine.session = 0;
  mine.unknown = false;
  waiting_.insert(std::lower_bound(waiting_.begin(), waiting_.end(), sequence), sequence);
  send_waiting();
}

void replicated_store::answer(std::uint64_t sequence, outcome result) {
  completion done;
  {
    const std::lock_guard lock{mutex_};
    const auto found = pending_.find(sequence);
    if (found == pending_.end()) return;
    done = std::move(found->second.done);
    pending_.erase(found);
  }
  done(std::move(result));
}

void replicated_store::answer_all(const std::function<bool(const pending&)>& which,
                                  const error& reason) {
  std::vector<completion> all;
  {
    const std::lock_guard lock{mutex_};
    for (auto& [sequence, each] : pending_)
      if (which(each)) all.push_back(std::exchange(each.done, {}));
    std::erase_if(pending_, [](const auto& each) { return !each.second.done; });
  }
  for (const auto& each : all)
    each(fail(reason));
}

// -- the session ----------------------------------------------------------------------------------

// Under the lock.
void replicated_store::raise_session() {
  if (std::exchange(raising_, true)) return;
  const auto key = session_key(session_);
  log_->submit({{{key, session_revision_}}, {{key, std::to_string(next_sequence_)}}},
               [this](const log_answer& told) { on_session(told); });
}

void replicated_store::on_session(const log_answer& told) {
  using outcome = log_answer::outcome;
  const bool known = told.result == outcome::committed || told.result == outcome::conflict;
  {
    const std::lock_guard lock{mutex_};
    raising_ = false;
    if (known) {
      // In conflict with what itself had written, and was told nothing about.
      session_revision_ = told.result == outcome::committed ? told.at : told.actual;
      later_.push_back({told.at, [this, at = session_revision_] { on_session_applied(at); }});
      if (session_revision_ == 0) raise_session();
      send_waiting();
    }
  }
  if (known) return answer_ready();
  const auto old = std::chrono::steady_clock::now() - defaults::log_answer_limit;
  answer_all(
      [old](const pending& each) { return !each.decided && each.since < old; },
      {errc::io, "the log does not answer, and nobody knows what has happened: " + told.reason});
  log_->call_later(defaults::log_retry_first, [this] {
    const std::lock_guard lock{mutex_};
    raise_session();
  });
}

// What was sent with an older session and has not happened never will.
void replicated_store::on_session_applied(revision at) {
  const std::lock_guard lock{mutex_};
  std::vector<std::uint64_t> again;
  for (const auto& [sequence, each] : pending_)
    if (each.unknown && each.session < at) again.push_back(sequence);
  for (const auto sequence : again)
    send_again(sequence);
}

}  // namespace troupe::persistence

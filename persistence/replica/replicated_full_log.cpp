// The part of replicated_store that handles a log without space.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "persistence/replica/replicated_store.hpp"

namespace troupe::persistence {

// Called with the lock. A transaction that writes no value tells nothing if it is committed.
void replicated_store::note_full(const log_answer& reply, bool writes_nothing) {
  const bool is_full =
      reply.result == log_answer::outcome::refused && reply.reason.code == errc::no_space;
  const bool has_space = reply.result == log_answer::outcome::committed && !writes_nothing;
  if (is_full && !std::exchange(is_full_, true)) spdlog::error("store: {}", reply.reason.message);
  if (has_space && std::exchange(is_full_, false))
    spdlog::info("store: the log of the cluster has space again");
}

// Called with the lock. etcd executes the transaction that fills its quota, and answers that it has
// no space (etcd: server/etcdserver/apply.go, quotaApplierV3.Txn). If it was executed, its step is
// no newer than a revision that the log reports now, and answers it when it is applied. One request
// is under way at a time, for all transactions that wait.
void replicated_store::settle_full() {
  if (std::exchange(settling_, true)) return;
  log_->newest([this, asked = std::exchange(refused_, {})](const expected<revision>& newest) {
    {
      const std::lock_guard lock{mutex_};
      settling_ = false;
      for (const auto& [sequence, reason] : asked) {
        const auto found = pending_.find(sequence);
        if (found == pending_.end()) continue;
        if (newest)
          when_applied(*newest, [this, sequence = sequence, reason = reason] {
            refuse_full(sequence, reason);
          });
        else
          found->second.unknown = true;
      }
      if (newest)
        known_ = std::max(known_, *newest);
      else
        raise_session();
      if (!refused_.empty()) settle_full();
    }
    answer_ready();
  });
}

// For a transaction that was not executed.
void replicated_store::refuse_full(std::uint64_t sequence, const error& reason) {
  bool is_sent = false;
  {
    const std::lock_guard lock{mutex_};
    const auto found = pending_.find(sequence);
    if (found == pending_.end()) return;
    auto& mine = found->second;
    const auto& writes = mine.request.writes;
    is_sent = !mine.without_cause && std::none_of(writes.begin(), writes.end(),
                                                  [](const auto& each) { return each.value; });
    mine.without_cause = is_sent;
    if (is_sent) send_again(sequence);
  }
  is_sent ? send_waiting() : answer(sequence, fail(reason));
}

// Called with the lock. The removed objects are read from the local history, since the step has no
// tag and may have been applied before the log's answer. (A removal without a precondition that
// finds nothing may report what another transaction removed last.)
void replicated_store::answer_removal(revision at, std::uint64_t sequence) {
  auto& mine = pending_.at(sequence);
  mine.decided = true;
  std::vector<std::string> keys;
  for (const auto& each : mine.mutations)
    keys.push_back(each.key);
  when_applied(at, [this, at, sequence, keys = std::move(keys)] {
    // Without a visible change the local state may have no revision `at`.
    const auto shown = std::min(at, read().at());
    const auto seen = changes(shown - 1, 1);
    if (!seen)
      return answer(sequence,
                    fail(errc::unknown, "the log no longer shows whether this was committed"));
    committed made{shown, {}};
    for (const auto& key : keys) {
      const auto place = std::find_if(seen->begin(), seen->end(), [&](const change& each) {
        return each.at == shown && each.key == key;
      });
      made.objects.push_back(place == seen->end() ? nullptr : place->object);
    }
    answer(sequence, std::move(made));
  });
}

}  // namespace troupe::persistence

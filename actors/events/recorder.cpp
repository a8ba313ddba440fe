#include "actors/events/recorder.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "actors/core/condition.hpp"
#include "actors/core/log.hpp"
#include "actors/write/commands.hpp"
#include "actors/write/creation.hpp"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::core::v1::Event;

recorder::recorder(persistence::store* store, runtime::actor_ref writer, event_limits limits)
    : store_{store}, writer_{std::move(writer)}, limits_{limits} {}

const runtime::behavior& recorder::make_behavior() const {
  static const auto table = runtime::handlers(&recorder::on_record_event);
  return table;
}

void recorder::started() {
  sweep_ = every(defaults::event_sweep, [this] {
    sweep();
    log_drops();
  });
  bound_ = every(defaults::event_bound_period, [this] { keep_limits(); });
}

std::string recorder::describe() const {
  return fmt::format("recorded: {}\nlimited: {}\nfailed: {}\nexpired: {}\ndropped: {}\nknown: {}\n",
                     recorded_, limited_, failed_, expired_, dropped_, rows_.size());
}

void recorder::on_record_event(const record_event& m) {
  if (!m.about) return;
  if (!allowed(m)) {
    ++limited_;
    return;
  }
  ++recorded_;
  const auto at = wall_now() - m.ago;
  auto key = event_key(m);
  auto* known = rows_.find(key);
  if (known == nullptr) {
    last_number_ = std::max<std::int64_t>(last_number_ + 1, wall_now().time_since_epoch().count());
    const auto event = make_event(m, at, last_number_);
    auto& fresh = rows_.put(key, {.ns = event->metadata().namespace_(),
                                  .name = event->metadata().name(),
                                  .encoded = event->SerializeAsString(),
                                  .last = seconds_of(at)});
    return write(key, fresh);
  }
  ++known->count;
  known->last = std::max(known->last, seconds_of(at));
  if (known->writing) {
    known->changed = true;
  } else {
    write(key, *known);
  }
}

bool recorder::allowed(const record_event& m) {
  const auto key = event_source_key(m);
  auto* bucket = buckets_.find(key);
  if (bucket == nullptr) {
    bucket = &buckets_.put(key, {defaults::event_burst, defaults::event_interval, now()});
  }
  return bucket->take(now());
}

// -- writing --------------------------------------------------------------------------------------

void recorder::write(const std::string& key, row& r) {
  auto transaction = transaction_for(r);
  if (!transaction) {
    ++failed_;
    rows_.erase(key);
    return;
  }
  transaction->cause.author = "recorder";
  r.writing = true;
  r.changed = false;
  request<commit_done>(writer_,
                       commit{std::make_shared<persistence::transaction>(std::move(*transaction))},
                       defaults::write_timeout,
                       [this, key](auto reply) { written(key, reply && (*reply)->result); });
}

api::expected<persistence::transaction> recorder::transaction_for(const row& r) {
  const auto state = store_->read();
  const auto& kind = api::kind_of<Event>();
  const auto stored = state.find(kind.key(r.ns, r.name));
  auto next = stored ? stored->copy_as<Event>() : std::make_unique<Event>();
  if (!stored) next->ParseFromString(r.encoded);
  next->set_count(r.count);
  next->mutable_last_timestamp()->set_seconds(r.last);
  if (stored) return succeed(*stored, std::move(next));
  return create_transaction(state, kind, std::move(next), checks::done_before, wall_now(),
                            random());
}

void recorder::written(const std::string& key, bool succeeded) {
  if (!succeeded) ++failed_;
  auto* r = rows_.find(key);
  if (r == nullptr) return;
  r->writing = false;
  if (r->changed) write(key, *r);
}

// -- expiry -------------------------------------------------------------------------------------

// Events in a shared log expire by leases (persistence/replica/leased_log).
void recorder::sweep() {
  if (store_->is_shared()) return;
  const auto oldest = seconds_of(wall_now() - defaults::event_time_to_live);
  expired_ += remove([oldest](persistence::revision, std::string_view stored) {
    return last_seen(stored) < oldest;
  });
}

void recorder::keep_limits() {
  const auto prefix = api::kind_of<Event>().prefix();
  const auto state = store_->read();
  const bool within =
      state.count(prefix) <= limits_.count && state.encoded_bytes() <= limits_.bytes;
  if (within || removals_ > 0) return;
  std::vector<stored_event> events;
  state.scan_stored(prefix,
                    [&](std::string_view, persistence::revision at, std::string_view stored) {
                      events.push_back({at, stored.size()});
                    });
  const auto last = excess(std::move(events), limits_);
  dropped_ += remove([last](persistence::revision at, std::string_view) { return at <= last; });
}

template <class F>
std::size_t recorder::remove(F chosen) {
  const auto& kind = api::kind_of<Event>();
  persistence::transaction batch;
  std::size_t removed = 0;
  const auto send = [&] {
    if (batch.mutations.empty()) return;
    removed += batch.mutations.size();
    send_removal(std::exchange(batch, {}));
  };
  store_->read().scan_stored(
      kind.prefix(), [&](std::string_view key, persistence::revision at, std::string_view stored) {
        if (!chosen(at, stored)) return;
        if (removals_ >= defaults::event_batches) {
          remove_again_ = true;
          return;
        }
        batch.preconditions.push_back({std::string{key}, at});
        batch.mutations.push_back({std::string{key}, &kind, nullptr});
        if (batch.mutations.size() == defaults::event_sweep_batch) send();
      });
  send();
  return removed;
}

// An event that occurred again conflicts, and stays until the next sweep.
void recorder::send_removal(persistence::transaction batch) {
  batch.cause.author = "recorder";
  ++removals_;
  request<commit_done>(writer_,
                       commit{std::make_shared<persistence::transaction>(std::move(batch))},
                       defaults::write_timeout, [this](auto reply) {
                         if (--removals_ > 0 || !std::exchange(remove_again_, false)) return;
                         if (!reply || !(*reply)->result) return;
                         sweep();
                         keep_limits();
                       });
}

void recorder::log_drops() {
  const auto fresh = dropped_ - std::exchange(logged_dropped_, dropped_);
  if (fresh == 0) return;
  log().warn(
      "recorder: {} events were deleted before they expired: at most {} of {} bytes in total are "
      "kept (store.max_events, store.max_event_bytes)",
      fresh, limits_.count, limits_.bytes);
}

}  // namespace troupe::actors

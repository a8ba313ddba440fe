#include "actors/recorder.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "actors/commands.hpp"
#include "actors/condition.hpp"
#include "actors/creation.hpp"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::core::v1::Event;

recorder::recorder(persistence::store* truth, runtime::actor_ref writer)
    : truth_{truth}, writer_{std::move(writer)} {}

const runtime::behavior& recorder::make_behavior() const {
  static const auto table = runtime::handlers(&recorder::on_record_event);
  return table;
}

void recorder::started() {
  sweep_ = every(defaults::event_sweep, [this] { sweep(); });
}

std::string recorder::describe() const {
  return fmt::format("recorded: {}\nlimited: {}\nfailed: {}\nexpired: {}\nknown: {}\n", recorded_,
                     limited_, failed_, expired_, rows_.size());
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
    auto& fresh = rows_.put(key, {make_event(m, at, last_number_)});
    return write(key, fresh);
  }
  known->event->set_count(known->event->count() + 1);
  auto& last = *known->event->mutable_last_timestamp();
  last.set_seconds(std::max(last.seconds(), seconds_of(at)));
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
  auto what = transaction_for(r);
  if (!what) {
    ++failed_;
    rows_.erase(key);
    return;
  }
  what->why.author = "recorder";
  r.writing = true;
  r.changed = false;
  request<commit_done>(writer_,
                       commit{std::make_shared<persistence::transaction>(std::move(*what))},
                       defaults::write_timeout,
                       [this, key](auto reply) { written(key, reply && (*reply)->result); });
}

api::expected<persistence::transaction> recorder::transaction_for(const row& r) {
  const auto& meta = r.event->metadata();
  const auto state = truth_->read();
  const auto& kind = api::kind_of<Event>();
  const auto stored = state.find(kind.key(meta.namespace_(), meta.name()));
  if (!stored) {
    return create_transaction(state, kind, std::make_unique<Event>(*r.event), checks::done_before,
                              wall_now(), random());
  }
  auto next = stored->copy_as<Event>();
  next->set_count(r.event->count());
  *next->mutable_last_timestamp() = r.event->last_timestamp();
  return succeed(*stored, std::move(next));
}

void recorder::written(const std::string& key, bool succeeded) {
  if (!succeeded) ++failed_;
  auto* r = rows_.find(key);
  if (r == nullptr) return;
  r->writing = false;
  if (r->changed) write(key, *r);
}

// -- the end of events ----------------------------------------------------------------------------

void recorder::sweep() {
  const auto& kind = api::kind_of<Event>();
  const auto oldest = seconds_of(wall_now() - defaults::event_time_to_live);
  auto batch = std::make_shared<persistence::transaction>();
  const auto send = [&] {
    if (batch->mutations.empty()) return;
    batch->why.author = "recorder";
    expired_ += batch->mutations.size();
    // What was seen again meanwhile is a conflict, and stays until the next sweep.
    request<commit_done>(writer_, commit{std::exchange(batch, {})}, defaults::write_timeout,
                         [](const auto&) {});
    batch = std::make_shared<persistence::transaction>();
  };
  truth_->read().scan(kind.prefix(), {}, [&](std::string_view key, const api::object_ptr& object) {
    if (last_seen(object->as<Event>()) >= oldest) return true;
    batch->preconditions.push_back({std::string{key}, object->revision()});
    batch->mutations.push_back({std::string{key}, &kind, nullptr});
    if (batch->mutations.size() == defaults::event_sweep_batch) send();
    return true;
  });
  send();
}

}  // namespace troupe::actors

// The event recorder: converts `record_event` messages to Events of the API, aggregates equal ones,
// limits the rate for each object, and deletes expired events. If there are more than the limits
// allow, by any author, it deletes the oldest early.
//
// Events are best effort: they are written relaxed, an event that cannot be written is dropped, and
// counts restart after a crash of the recorder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "actors/core/messages.hpp"
#include "actors/defaults.hpp"
#include "actors/events/event_rules.hpp"
#include "actors/events/lru.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

class recorder : public runtime::actor {
 public:
  // The store must outlive it.
  recorder(persistence::store* store, runtime::actor_ref writer, event_limits limits = {});

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  // The latest state of an event, to be written to the store.
  struct row {
    std::string ns, name;
    std::string encoded;  // the Event as first recorded, encoded: there are thousands of rows
    std::int32_t count = 1;
    std::int64_t last = 0;  // last occurrence, seconds since the epoch
    bool writing = false;   // a write is in flight
    bool changed = false;   // since that transaction
  };

  void on_record_event(const record_event& m);

  bool allowed(const record_event& m);
  void write(const std::string& key, row& r);
  api::expected<persistence::transaction> transaction_for(const row& r);
  void written(const std::string& key, bool succeeded);
  void sweep();
  void keep_limits();
  // Deletes events for which chosen(modified, stored) is true, up to the limit in flight; returns
  // their number.
  template <class F>
  std::size_t remove(F chosen);
  void send_removal(persistence::transaction batch);
  void log_drops();

  persistence::store* store_;
  runtime::actor_ref writer_;
  lru<row> rows_{defaults::event_cache};
  lru<token_bucket> buckets_{defaults::event_cache};
  std::int64_t last_number_ = 0;  // suffix of the last event's name
  std::uint64_t recorded_ = 0, limited_ = 0, failed_ = 0, expired_ = 0, dropped_ = 0;
  std::uint64_t logged_dropped_ = 0;
  const event_limits limits_;
  std::size_t removals_ = 0;   // batches in flight
  bool remove_again_ = false;  // the limit in flight was reached
  runtime::timer sweep_, bound_;
};

}  // namespace troupe::actors

// The event recorder: turns `record_event` messages into Events of the API, counts equal ones up,
// limits the events of one object, and removes events after their time. Where there are more than
// the limits allow, whoever wrote them, the oldest are removed before their time.
//
// Events are a convenience: they are written relaxed, one that cannot be written is forgotten, and
// after a crash of the recorder counting starts again.
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
  // An event as it should stand in the store.
  struct row {
    std::string ns, name;
    std::string encoded;  // the Event as it began: there are thousands of rows
    std::int32_t count = 1;
    std::int64_t last = 0;  // seen, in seconds of the epoch
    bool writing = false;   // a transaction is on its way
    bool changed = false;   // since that transaction
  };

  void on_record_event(const record_event& m);

  bool allowed(const record_event& m);
  void write(const std::string& key, row& r);
  api::expected<persistence::transaction> transaction_for(const row& r);
  void written(const std::string& key, bool succeeded);
  void sweep();
  void keep_limits();
  // Those for which chosen(modified, stored) is true, as many as may be under way at once; how
  // many.
  template <class F>
  std::size_t remove(F chosen);
  void send_removal(persistence::transaction batch);
  void log_drops();

  persistence::store* store_;
  runtime::actor_ref writer_;
  lru<row> rows_{defaults::event_cache};
  lru<token_bucket> buckets_{defaults::event_cache};
  std::int64_t last_number_ = 0;  // of an event's name
  std::uint64_t recorded_ = 0, limited_ = 0, failed_ = 0, expired_ = 0, dropped_ = 0;
  std::uint64_t told_dropped_ = 0;
  const event_limits limits_;
  std::size_t removals_ = 0;   // batches under way
  bool remove_again_ = false;  // there was more to remove than may be under way
  runtime::timer sweep_, bound_;
};

}  // namespace troupe::actors

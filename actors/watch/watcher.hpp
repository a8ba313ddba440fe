// The watcher: converts the store's batches of changes to events for each subscriber, in order,
// without gaps or duplicates.
//
// Live subscribers are served from the batch itself; subscribers with equal views share one
// list. A subscriber without credit costs only memory: when it grants credit again it is
// replayed from the window in memory or, for older revisions, from the log on disk (read by a
// thread, or in place in simulations). An initial state is read from a snapshot and sent under
// the same credit.
//
// After a crash the watcher starts at the current revision without subscribers; each is notified of
// the restart (informer.hpp) and resumes from its last revision.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "actors/core/messages.hpp"
#include "actors/defaults.hpp"
#include "actors/watch/watch_report.hpp"
#include "actors/watch/watch_stream.hpp"
#include "actors/watch/watch_window.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor.hpp"
#include "runtime/worker_pool.hpp"

namespace troupe::actors {

struct watcher_options {
  // The thread that reads the log; null: the watcher itself, which blocks it (simulations).
  std::shared_ptr<runtime::worker_pool> log_reader = {};
  std::size_t window_changes = defaults::window_changes;
  std::size_t window_bytes = defaults::window_bytes;
  std::size_t log_part_changes = defaults::log_part_changes;
};

class watcher : public runtime::actor {
 public:
  // The store must outlive it.
  watcher(persistence::store* store, watcher_options options);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  // The answer of a log read for a stream or, with `serial` 0, for the watcher that missed a batch.
  struct log_part {
    stream_key stream = {};
    std::uint64_t serial = 0;
    revision after = 0;
    tl::expected<std::vector<persistence::change>, persistence::error> changes = {};
  };
  using changes_view = std::vector<const persistence::change*>;
  // By resource, prefix or node; the names are views into the changes.
  using changes_by_name = std::unordered_map<std::string_view, changes_view>;
  // The events of some changes for the streams in one list of the index.
  struct shared_events {
    event_list of(const watch_stream& s);

    const changes_view& changes;
    event_objects& left;
    event_list shared;  // for the first view without a filter
    const watch_view* first;
  };
  class gathering;

  // -- messages from the store
  void on_committed(const committed& m);
  void on_log_part(const log_part& m);
  // -- messages from subscribers
  void on_subscribe(const subscribe& m);
  void on_more(const more& m);
  void on_bookmark_now(const bookmark_now& m);
  void on_unsubscribe(const unsubscribe& m);
  // -- messages from the console (watcher_report.cpp)
  void on_report_watches(const report_watches& m, runtime::promise<watch_report> answer);

  // -- new changes, to live streams
  void take(persistence::change_batch batch);
  void fan_out(const std::vector<persistence::change>& batch, revision before);
  static changes_by_name by_prefix(const changes_view& changes, std::string_view resource);
  static changes_by_name by_node(const changes_view& changes);
  void offer_by(const stream_index::lists& lists, const changes_by_name& changes, revision before,
                event_objects& left);
  void offer_all(const stream_list& streams, const changes_view& changes, revision before,
                 event_objects& left);
  void offer(watch_stream& s, shared_events& seen, revision before);
  void fill_gap();
  void on_missed(const log_part& m);

  // -- a stream that is not live (watcher_replay.cpp)
  void advance(watch_stream& s);
  void send_initial(watch_stream& s);
  void replay_window(watch_stream& s);
  void replay_part(watch_stream& s, const std::vector<persistence::change>& changes);
  void read_log(watch_stream& s);
  bool read(log_part request);

  // -- sending
  bool send_events(watch_stream& s, event_list events, revision up_to);
  void bookmark(watch_stream& s);
  void end(watch_stream& s, persistence::error reason);
  void drop(watch_stream& s);
  void erase_dead();

  void round();
  void sweep();
  void forget_texts();
  watch_stream* find(std::uint64_t id);

  persistence::store* store_;
  watcher_options options_;
  watch_window window_;
  // In the order of the actors' start, so that a simulation is deterministic.
  std::map<stream_key, std::unique_ptr<watch_stream>> streams_;
  stream_index index_;
  std::vector<stream_key> dead_;
  std::uint64_t last_serial_ = 0;
  runtime::time_point gap_until_{};  // deadline of a log read for the watcher itself
  revision seen_at_last_round_ = 0;
  // Lists of changes that were offered to live streams, whether or not they led to an event.
  std::uint64_t offers_ = 0;
  std::uint64_t sent_ = 0, replayed_ = 0, log_reads_ = 0;
  runtime::timer round_;
  runtime::timer sweep_;
};

}  // namespace troupe::actors

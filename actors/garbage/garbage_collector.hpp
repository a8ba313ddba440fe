// The garbage collector: deletes objects whose owners are gone, and completes deletions that wait
// for dependents (foreground) or orphan them.
//
// It reads the whole log (except events) as one stream, so that its owner graph is consistent with
// one revision: once it sees that an owner is to be orphaned, it has seen all dependents created
// before. Whether an owner exists is always checked in the newest state. All tasks are derived
// again from the store at the start, so a lost or repeated task is harmless.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_set>

#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "actors/defaults.hpp"
#include "actors/events/lru.hpp"
#include "actors/garbage/garbage_rules.hpp"
#include "actors/garbage/owner_graph.hpp"
#include "persistence/store/store.hpp"

namespace troupe::actors {

class garbage_collector : public informer {
 public:
  // The store must outlive it.
  garbage_collector(const persistence::store* store, core_actors core);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  // -- messages from the watcher
  void on_changes(const watch_events& m);
  void update_object(const std::string& key, const watch_event& event);
  void remove_object(const std::string& key, const api::object& object);
  void wake_owners(const std::vector<std::string>& uids);

  // -- the queue
  void enqueue(const std::string& key);
  void pump();
  void process(const std::string& key);

  // -- tasks
  void collect(const std::string& key, const api::object_ptr& object);
  void finish_foreground(const api::object_ptr& owner);
  void finish_orphans(const api::object_ptr& owner);
  void check_namespaces(const api::object_ptr& dependent);

  void replace(const std::string& task, const api::object& old, std::unique_ptr<api::body> content);
  void send_removal(const std::string& key, remove removal);
  void done(const std::string& key, const std::string& task, bool succeeded, bool conflict);

  const persistence::store* store_;
  core_actors core_;
  owner_graph graph_;
  revision graph_at_ = 0;  // the graph is complete up to this revision
  // Owners that wait for dependents: uid -> key.
  std::map<std::string, std::string> waiting_;
  // Uids of owners that do not exist, and whether they were namespaced.
  lru<bool> absent_{defaults::absent_owners};

  std::deque<std::string> queue_;
  std::unordered_set<std::string> queued_;
  std::vector<std::string> later_;           // failed: retried after a pause
  std::vector<std::string> ahead_;           // newer than the graph: retried once it has caught up
  std::unordered_set<std::string> busy_;     // keys with a write in flight
  std::unordered_set<std::string> put_off_;  // keys in `busy_` that got another task meanwhile
  std::uint64_t removed_ = 0, stripped_ = 0, failed_ = 0;
  bool complete_ = false;
  runtime::timer again_;
};

}  // namespace troupe::actors

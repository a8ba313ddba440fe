// The garbage collector: removes objects whose owners have gone, and brings deletions to their end
// that wait for dependents (foreground) or leave them behind (orphan).
//
// It reads the whole log (but events) as one stream, so that its graph of owners is the store at
// one revision: when it has seen that an owner is to be orphaned, it has seen all dependents that
// were made before. Whether an owner still exists is always asked of the newest state. All its work
// is decided again from the store when it starts, so a lost or doubled task is harmless.
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

  // -- what a task does
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
  revision graph_at_ = 0;  // the graph is complete up to here
  // Owners that wait for their dependents: uid -> key.
  std::map<std::string, std::string> waiting_;
  // Uids of owners that exist nowhere, so that they are not looked for again.
  lru<bool> absent_{defaults::absent_owners};

  std::deque<std::string> queue_;
  std::unordered_set<std::string> queued_;
  std::vector<std::string> later_;           // failed: again after a while
  std::vector<std::string> ahead_;           // newer than the graph: again when that has caught up
  std::unordered_set<std::string> busy_;     // keys that are being written
  std::unordered_set<std::string> put_off_;  // of these, those that had a task meanwhile
  std::uint64_t removed_ = 0, stripped_ = 0, failed_ = 0;
  bool complete_ = false;
  runtime::timer again_;
};

}  // namespace troupe::actors

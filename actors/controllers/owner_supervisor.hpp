// Starts one controller for each object of the kinds that own others (ReplicationControllers and
// ReplicaSets own pods, Deployments own ReplicaSets) and sends it changes of its own object
// (`owner_event`), and of the dependents that are or may become its own (`dependent_event`).
//
// Knows of each controller only what routing needs (uid, namespace, selector). A dependent goes to
// the controller that owns it, to the one that owned it before the change, and, when it has no
// owner, to those whose selector matches. No controller waits for another: one that is stuck delays
// none.
//
// Its controllers outlive a crash of this supervisor, and miss the changes meanwhile: once it is
// synced, it stops those whose objects were deleted, and sends the others a `resync_request`. A
// controller whose mailbox was full gets one too.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/core/informer.hpp"
#include "api/selectors/selector.hpp"

namespace troupe::actors {

// To a controller: changes may have been lost, the store has the present state.
struct resync_request {};

// The kinds that a supervisor serves.
struct ownership {
  struct owner_kind {
    const api::kind_info* kind;
    std::string actor_kind;  // as the console shows it, e.g. "replicaset"
  };
  std::vector<owner_kind> owners;
  const api::kind_info* dependents;
  std::function<api::label_selector(const api::object&)> selector_of;
  // The controller of the object at `key`. It must find what it needs in the store by itself.
  std::function<std::unique_ptr<runtime::actor>(const std::string& key)> make_controller;
};

class owner_supervisor : public informer {
 public:
  owner_supervisor(runtime::actor_ref watcher, actors::ownership ownership);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct route {
    std::string key;
    std::string uid;
    api::label_selector selector;
    runtime::actor_ref controller;
    bool outlived = false;  // is older than this incarnation of the supervisor
  };

  void on_owners(const ownership::owner_kind& kind, const watch_events& m);
  void on_dependents(const watch_events& m);
  void complete();

  void take_owner(const ownership::owner_kind& kind, const watch_event& event);
  void remove_owner(const std::string& key);
  template <class M>
  void deliver(const route& r, M message);
  void deliver_again();
  void forward_dependent(const watch_event& event);
  void forward(const std::string& uid, const dependent_event& change);

  const actors::ownership ownership_;
  std::map<std::string, route> routes_;                      // by key of the owner
  std::unordered_map<std::string, std::string> key_by_uid_;  // of the owners
  std::set<std::string> missed_;                             // keys of those that lost messages
  runtime::timer again_;
  bool complete_ = false;  // the present state was seen completely
};

}  // namespace troupe::actors

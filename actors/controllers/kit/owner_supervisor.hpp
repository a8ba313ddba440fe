// Starts one controller for each object of the kinds that own others (ReplicationControllers and
// ReplicaSets own pods, Deployments own ReplicaSets) and sends it changes of its own object
// (`owner_event`), and of the dependents that are or may become its own (`dependent_event`).
//
// It subscribes once for all its controllers, and knows of each only what routing needs. A
// dependent goes to the controller that owns it (an index by uid), to the one that owned it before
// the change, and, when it has no owner, to those whose selector matches (an index by namespace and
// label). No controller waits for another: one that is stuck delays none.
//
// An object that controllers observe goes to those whose `observes` matches it, now or before the
// change (objects of the whole cluster, such as nodes, to owners in every namespace). The kinds
// that are observed are subscribed to once some owner observes anything.
//
// A controller is started once the initial state of all these kinds is here, and reads the store
// then. Started earlier, it would never hear of an object that it has seen, or made, and that has
// gone before the initial state of that kind was taken: no initial state tells of what has gone.
//
// Its controllers outlive a crash of this supervisor, and miss the changes meanwhile: once it is
// synced, it stops those whose objects were deleted, and sends the others a `resync_request`. A
// controller whose mailbox was full gets one too.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "actors/controllers/kit/controller_type.hpp"
#include "actors/controllers/kit/selector_index.hpp"
#include "actors/core/informer.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::actors {

// To a controller: changes may have been lost, the store has the present state.
struct resync_request {};

// To a controller: an object that it observes has changed, or has become one of them or ceased to
// be one.
struct observed_event {
  watch_event event;
};

// Starts a supervisor, and with it the controllers of all objects of that type.
runtime::actor_ref start_controller(runtime::actor_system& system, const controller_type& type,
                                    const core_actors& core, const persistence::store& store,
                                    std::shared_ptr<const cluster_authority> authority = {});

class owner_supervisor : public informer {
 public:
  // The store outlives it.
  owner_supervisor(const controller_type& type, const core_actors& core,
                   const persistence::store* store,
                   std::shared_ptr<const cluster_authority> authority);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct route;
  using routes = std::map<std::string, route>;  // by key of the owner; rows stay where they are
  using row = routes::value_type;
  struct route {
    std::string uid;
    api::label_selector selector, observes;
    runtime::actor_ref controller;  // none while it waits to be started
    selector_index<row*>::place indexed = nullptr, observing = nullptr;
    bool outlived = false;  // is older than this incarnation of the supervisor
  };

  // A controller that is to be started.
  struct start {
    controller_context_ptr context;
    std::string name;  // of its actor
    runtime::cause cause;
  };

  void on_owners(const controller_context_ptr& context, const watch_events& m);
  void on_dependents(const watch_events& m);
  void on_observed(const watch_events& m);
  void observe();
  void complete();

  void take_owner(const controller_context_ptr& context, const watch_event& event);
  void start_waiting();
  void index(row& of, const api::object& owner);
  void unindex(row& of);
  void remove_owner(const std::string& key);
  template <class M>
  void deliver(const row& to, M message);
  void deliver_again();
  void forward_dependent(const watch_event& event);
  // Those of an index whose selector matches the object of an event, before it or after.
  template <class Matches>
  std::vector<const row*> matching(const selector_index<row*>& index, const watch_event& event,
                                   Matches matches) const;
  void forward(std::string_view uid, const dependent_event& change);

  std::vector<controller_context_ptr> contexts_;  // one for each kind of owner
  routes routes_;
  std::unordered_map<std::string_view, row*> by_uid_;  // the names are the routes' own
  selector_index<row*> by_label_, by_observed_;
  std::map<std::string, start> to_start_;  // by key of the owner
  std::set<std::string> missed_;           // keys of those that lost messages
  runtime::timer again_;
  bool observing_ = false;
  // An owner may have read the store before: what went until then nobody tells it.
  bool observed_synced_ = false;
  bool complete_ = false;  // the present state was seen completely
};

}  // namespace troupe::actors

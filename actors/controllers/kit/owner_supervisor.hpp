// The supervisor of one controller type: starts a controller for each object of the owner kinds
// (ReplicaSets own pods, Deployments own ReplicaSets), and sends it events of its own object
// (`owner_event`) and of its current or possible dependents (`dependent_event`).
//
// It subscribes once for all its controllers and keeps only the routing data of each. An event of a
// dependent goes to the controller that owns it (an index by uid), to its previous owner, and, if
// it has no owner, to the controllers whose selector matches (an index by namespace and label). No
// controller waits for another: a stuck one delays none.
//
// An event of an observed object goes to the controllers whose `observes` matches it before or
// after the change (for cluster-scoped objects such as nodes, in every namespace). The observed
// kinds are subscribed to once some owner observes anything.
//
// A controller starts, and reads the store, only after the initial state of all these kinds has
// arrived. Otherwise it could miss the deletion of an object that it had seen or created before: no
// initial state contains deletions.
//
// The controllers survive a crash of this supervisor but miss the events meanwhile. Once synced
// again, it stops controllers whose objects were deleted and sends the others a `resync_request`,
// as it does to a controller whose mailbox was full.
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

// Sent to a controller: events may have been lost; read the current state from the store.
struct resync_request {};

// Sent to a controller: an object that it observes, or observed before the change, has
// changed.
struct observed_event {
  watch_event event;
};

// Starts the supervisor, which starts the controllers of all objects of that type.
runtime::actor_ref start_controller(runtime::actor_system& system, const controller_type& type,
                                    const core_actors& core, const persistence::store& store,
                                    controller_settings settings = {});

class owner_supervisor : public informer {
 public:
  // The store must outlive this actor.
  owner_supervisor(const controller_type& type, const core_actors& core,
                   const persistence::store* store, controller_settings settings);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct route;
  using routes = std::map<std::string, route>;  // by key of the owner; entries are stable
  using row = routes::value_type;
  struct route {
    std::string uid;
    api::label_selector selector, observes;
    runtime::actor_ref controller;  // null until it is started
    selector_index<row*>::place indexed = nullptr, observing = nullptr;
    bool predates_restart = false;  // started before this incarnation of the supervisor
  };

  // A controller that waits to be started.
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
  // The owners in an index whose selector matches the event's object before or after the change.
  template <class Matches>
  std::vector<const row*> matching(const selector_index<row*>& index, const watch_event& event,
                                   Matches matches) const;
  void forward(std::string_view uid, const dependent_event& change);

  std::vector<controller_context_ptr> contexts_;  // one for each kind of owner
  routes routes_;
  std::unordered_map<std::string_view, row*> by_uid_;  // views of strings in `routes_`
  selector_index<row*> by_label_, by_observed_;
  std::map<std::string, start> to_start_;  // by key of the owner
  std::set<std::string> missed_;           // keys of controllers that lost messages
  runtime::timer again_;
  bool observing_ = false;
  // An owner may have read the store earlier; deletions until then are not delivered to it.
  bool observed_synced_ = false;
  bool complete_ = false;  // the initial state is complete
};

}  // namespace troupe::actors

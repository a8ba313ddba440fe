// A controller as data: the kinds of its owners and dependents, and the actor that it starts for
// each owner. `actors/controllers/controllers.def` lists all controllers for the control plane, the
// console and the metrics.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/cluster_authority.hpp"
#include "actors/core/core_actors.hpp"
#include "api/object/object.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "api/selectors/selector.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

struct controller_context;
using controller_context_ptr = std::shared_ptr<const controller_context>;

struct controller_type {
  struct owner_kind {
    const api::kind_info* kind;
    std::string actor_kind;  // as the console shows it, e.g. "replicaset"
    std::string component;   // of its events and changes, e.g. "replicaset-controller"
    // Selects the dependents that it adopts or releases. Null: it does neither; its dependents are
    // only those that it creates.
    api::label_selector (*selector_of)(const api::object& owner) = nullptr;
    // Selects the objects of the `observed` kinds, whoever owns them. Null: none.
    api::label_selector (*observes)(const api::object& owner) = nullptr;
    // If set: the owner is a namespace, and its only dependent is the object of this name in it,
    // whoever created it. It gets no owner reference: it is deleted with the namespace.
    std::string dependent_name = {};
    // If set: a finalizer that is added to adopted dependents and removed from released ones.
    std::string finalizer = {};
  };
  // Creates the actor for the object at `key`. The actor reads the store itself.
  using factory = std::function<std::unique_ptr<runtime::actor>(const std::string& key,
                                                                controller_context_ptr context)>;

  std::string name;     // of its supervisor, e.g. "replication"
  std::string purpose;  // one line, for the console
  std::vector<owner_kind> owners;
  std::vector<const api::kind_info*> dependents;  // in the owner's namespace
  factory make;
  // In the owner's namespace, or all objects of a cluster-scoped kind.
  std::vector<const api::kind_info*> observed = {};
};

// What controllers need of the configuration.
struct controller_settings {
  std::shared_ptr<const cluster_authority> authority = {};  // null if there is none
  // True: load balancer Services without a class get the nodes' addresses.
  bool default_load_balancer = true;
  // Ports that no load balancer Service gets at the nodes' addresses.
  std::vector<std::int32_t> reserved_ports = {};
};

// Shared by the controllers of one kind of owner. The store must outlive them.
struct controller_context {
  controller_type::owner_kind owner;
  std::vector<const api::kind_info*> dependents;
  controller_type::factory make;
  core_actors core;
  const persistence::store& store;
  std::vector<const api::kind_info*> observed = {};
  controller_settings settings = {};
};

// Compiles the labels of a ReplicationController, or the LabelSelector of newer kinds. An invalid
// selector (it once passed validation) selects nothing.
inline api::label_selector compile(const api::label_map& labels) {
  return api::label_selector::from(labels);
}
inline api::label_selector compile(const api::meta::v1::LabelSelector& selector) {
  return api::label_selector::from(selector).value_or(api::label_selector::nothing());
}
template <class T>
api::label_selector selector_of(const api::object& owner) {
  return compile(owner.as<T>().spec().selector());
}

// Calls a function of an owner_kind that may be null.
inline api::label_selector selector_by(api::label_selector (*of)(const api::object& owner),
                                       const api::object& owner) {
  return of != nullptr ? of(owner) : api::label_selector::nothing();
}

// An owner kind T whose `spec.selector` selects the dependents to adopt or release.
template <class T>
controller_type::owner_kind selecting_owner(std::string actor_kind, std::string component) {
  return {&api::kind_of<T>(), std::move(actor_kind), std::move(component), &selector_of<T>};
}

// Makes actors of class A, a reconciler.
template <class A>
std::unique_ptr<runtime::actor> make_controller(const std::string& key,
                                                controller_context_ptr context) {
  return std::make_unique<A>(key, std::move(context));
}

}  // namespace troupe::actors

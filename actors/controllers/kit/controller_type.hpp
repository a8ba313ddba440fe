// A controller as data: the kinds of its owners, the kinds of their dependents,
// and the actor that it starts for each object. `actors/controllers/registry.cpp` lists them all;
// the control plane, the console and the metrics read that list.
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
    // Which dependents without a controller it adopts, and which of its own it releases. Null: it
    // does neither, its dependents are those that it made.
    api::label_selector (*selector_of)(const api::object& owner) = nullptr;
    // Which objects of the `observed` kinds it looks at, whoever owns them. Null: none.
    api::label_selector (*observes)(const api::object& owner) = nullptr;
    // Not empty: the owner is a namespace, and its one dependent the object of this name in it,
    // whoever made that. It gets no owner reference: the namespace is emptied with it.
    std::string dependent_name = {};
    // Not empty: a finalizer that dependents get when they are adopted, and lose when released.
    std::string finalizer = {};
  };
  // The actor for the object at `key`. It reads the store by itself.
  using factory = std::function<std::unique_ptr<runtime::actor>(const std::string& key,
                                                                controller_context_ptr context)>;

  std::string name;     // of its supervisor, e.g. "replication"
  std::string purpose;  // one line, for people
  std::vector<owner_kind> owners;
  std::vector<const api::kind_info*> dependents;  // in the owner's namespace
  factory make;
  // In the owner's namespace, or all of the whole cluster.
  std::vector<const api::kind_info*> observed = {};
};

// Shared by the controllers of one kind of owner. The store outlives them.
struct controller_context {
  controller_type::owner_kind owner;
  std::vector<const api::kind_info*> dependents;
  controller_type::factory make;
  core_actors core;
  const persistence::store& store;
  std::vector<const api::kind_info*> observed = {};
  std::shared_ptr<const cluster_authority> authority;  // null: there is none
};

// The labels of a ReplicationController, the LabelSelector of newer kinds. A selector that makes no
// sense (it passed validation once) selects nothing.
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

// Of a function of an owner that it may not have.
inline api::label_selector selector_by(api::label_selector (*of)(const api::object& owner),
                                       const api::object& owner) {
  return of != nullptr ? of(owner) : api::label_selector::nothing();
}

// Owners of kind T whose `spec.selector` says which dependents they adopt and release.
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

// Decides what to do with an object whose owners are gone. Pure functions of a snapshot.
//
// kubernetes: pkg/controller/garbagecollector, attemptToDeleteItem.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/meta_object.pb.h"
#include "persistence/tree/snapshot.hpp"

namespace troupe::actors {

inline constexpr const char* finalizer_orphan = "orphan";
inline constexpr const char* finalizer_foreground = "foregroundDeletion";

// True if the object is deleted and waits until its dependents are deleted or orphaned.
bool awaits_dependents(const api::object& object);

// True if two states of an object have the same owners and deletion state, as in most changes.
bool same_dependence(const api::object& a, const api::object& b);

enum class owner_state {
  solid,    // exists and stays; also assumed for an unknown kind, and for a namespaced owner of a
            // cluster-scoped dependent
  waiting,  // exists, but is in foreground deletion and waits for its dependents
  absent,   // not found, or another object of that name
};

// The kind of an owner, also in a version that is no longer served; null: unknown.
api::kind_handle kind_of_owner(const api::meta::v1::OwnerReference& owner);

owner_state state_of(const api::object& dependent, const api::meta::v1::OwnerReference& owner,
                     const persistence::snapshot& state);

enum class garbage_step {
  keep,
  strip,    // remove the references to owners that are absent or waiting
  unblock,  // its dependents form a cycle: clear blockOwnerDeletion
  remove,
};

struct garbage_decision {
  garbage_step step = garbage_step::keep;
  std::vector<std::string> lost_owners;  // uids, for `strip`
  std::string propagation;               // for `remove`
};

// `dependents`: the keys of the objects that depend on `object`. `is_absent`: true if the owner
// with this uid has gone; asked if its kind is unknown.
garbage_decision classify(const api::object& object, const std::vector<std::string>& dependents,
                          const persistence::snapshot& state,
                          const std::function<bool(const std::string& uid)>& is_absent = {});

// Copies without some owner references, or with none that blocks.
std::unique_ptr<api::body> without_owners(const api::object& object,
                                          const std::vector<std::string>& uids);
std::unique_ptr<api::body> without_blocking(const api::object& object);

}  // namespace troupe::actors

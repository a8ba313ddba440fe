// What becomes of an object whose owners go. Pure functions of a snapshot.
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

bool has_finalizer(const api::object& object, const char* finalizer);

// Deleted, and waiting until its dependents are gone (or, orphaned, on their own).
bool awaits_dependents(const api::object& object);

// True when two states of one object say the same of owners and deletion: most changes do.
bool same_dependence(const api::object& a, const api::object& b);

enum class owner_state {
  solid,    // there, and stays; also what cannot be judged: an unknown kind, or an owner in a
            // namespace of a dependent that has none
  waiting,  // there, but being deleted in the foreground: it waits for its dependents
  absent,   // no such object, or another one of that name
};

owner_state state_of(const api::object& dependent, const api::meta::v1::OwnerReference& owner,
                     const persistence::snapshot& state);

enum class garbage_step {
  keep,
  strip,    // take away the references to owners that are absent or waiting
  unblock,  // it waits for its own dependents in a circle: clear blockOwnerDeletion
  remove,
};

struct garbage_decision {
  garbage_step step = garbage_step::keep;
  std::vector<std::string> lost_owners;  // uids, for `strip`
  std::string propagation;               // for `remove`
};

// `dependents`: the keys of the objects that depend on this one.
garbage_decision judge(const api::object& object, const std::vector<std::string>& dependents,
                       const persistence::snapshot& state);

// Copies with references taken away, or with none that blocks.
std::unique_ptr<api::body> without_owners(const api::object& object,
                                          const std::vector<std::string>& uids);
std::unique_ptr<api::body> without_blocking(const api::object& object);
std::unique_ptr<api::body> without_finalizer(const api::object& object, const char* finalizer);

}  // namespace troupe::actors

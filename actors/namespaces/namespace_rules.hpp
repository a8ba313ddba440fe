// Plans the deletion of the content of a terminating namespace. Pure functions.
//
// kubernetes: pkg/controller/namespace/deletion/namespaced_resources_deleter.go; pods go first, and
// the rest when no pod is left (KEP-5080).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/schema/core_namespace.pb.h"
#include "persistence/tree/snapshot.hpp"
#include "runtime/clock.hpp"

namespace troupe::actors {

inline constexpr const char* finalizer_kubernetes = "kubernetes";

bool terminating(const api::core::v1::Namespace& ns);

struct namespace_content {
  // Objects to delete now: not yet marked for deletion.
  std::vector<api::object_ptr> to_remove;
  std::map<std::string, std::size_t> remaining;   // by resource ("pods", "replicasets.apps")
  std::map<std::string, std::size_t> finalizers;  // by finalizer, of marked objects
};

// Lists at most `limit` objects in `to_remove`.
namespace_content survey(const persistence::snapshot& state, const std::string& ns,
                         std::size_t limit);

// The namespace with conditions about the remaining content, or without the content finalizer if
// nothing remains. Null if nothing changes and the namespace cannot be removed yet.
std::unique_ptr<api::core::v1::Namespace> progressed(const api::core::v1::Namespace& ns,
                                                     const namespace_content& content,
                                                     runtime::wall_time now);

}  // namespace troupe::actors

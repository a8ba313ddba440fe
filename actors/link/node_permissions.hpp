// The read and write permissions of a joined node: its own Node and Lease, the pods bound to it,
// the config maps, secrets and claims that those reference, and volumes. Pure functions of the
// current state; each denial has a reason.
//
// A permission stays valid until the request is executed: a write must name the revision that was
// checked, a command the uid, and neither the node of a bound pod nor a started deletion can be
// undone.
//
// kubernetes: plugin/pkg/admission/noderestriction and plugin/pkg/auth/authorizer/node.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "actors/core/messages.hpp"
#include "persistence/tree/snapshot.hpp"
#include "runtime/link/link.hpp"

namespace troupe::actors {

// The node that a link belongs to: named in its certificate, and its Node exists and contains the
// peer's key. The error is the reason of the rejection.
tl::expected<std::string, std::string> admit_node(const persistence::snapshot& state,
                                                  const runtime::link::peer& peer);

// A transaction of one object, with its revision as precondition (and another one of the own Node):
// status and harmless labels of the own Node, the own Lease, the status of the node's pods, removal
// of a terminating pod, the finalizer of a volume whose directory is on the node. `conflict` if the
// state is newer, otherwise `invalid`.
persistence::expected<void> may_commit(const persistence::snapshot& state, const std::string& node,
                                       const persistence::transaction& transaction);

// A pod of the node, by its uid; `remove` only if it is terminating.
api::expected<void> may_remove(const persistence::snapshot& state, const std::string& node,
                               const remove& removal);
api::expected<void> may_evict(const persistence::snapshot& state, const std::string& node,
                              const evict& eviction);

// The object of an event: the own Node or a pod of the node.
tl::expected<api::object_ptr, std::string> may_record(const persistence::snapshot& state,
                                                      const std::string& node,
                                                      const std::string& key,
                                                      const std::string& uid);

// `used`: whether a pod of the node references the object with this key.
tl::expected<void, std::string> may_follow(const std::string& node, const std::string& prefix,
                                           const std::string& on_node,
                                           const std::function<bool(const std::string&)>& used);

// The fields of a pod that network policies need: nodes that do not run the pod see nothing else of
// it.
api::object_ptr shown_for_policies(const api::object& pod);
// Whether a stream that a node may watch includes pods of other nodes.
bool has_pods_of_others(const std::string& prefix, const std::string& on_node);

// The config maps and secrets that the pods of one node reference, computed from the events of the
// stream of these pods.
class node_references {
 public:
  bool used(const std::string& key) const { return count_.contains(key); }
  // Returns the keys that are no longer used.
  std::vector<std::string> take(const watch_event& event);

 private:
  std::map<std::string, std::set<std::string>> of_pod_;  // by the pod's uid
  std::map<std::string, std::size_t> count_;             // number of pods, by key
};

}  // namespace troupe::actors

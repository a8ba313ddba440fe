// What a joined node may read and write: its own Node and Lease, the pods that are bound to it, and
// the config maps, secrets and claims that those use, and volumes. Pure functions of the present
// state; every refusal says why.
//
// What is allowed stays right until it is carried out: a write must name the very revision that was
// looked at, a command the uid, and neither the node of a bound pod nor a begun deletion is ever
// taken back.
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

// The node whose link that is: its certificate says so, its Node exists and names the peer's key.
// An error is the reason of the refusal.
tl::expected<std::string, std::string> admit_node(const persistence::snapshot& state,
                                                  const runtime::link::peer& peer);

// One object, over the revision that the transaction demands (and another of the own Node): status
// and harmless labels of the own Node, the own Lease, the status of a pod of the node, the end of
// one that is terminating, the finalizer by which a volume waits for its directory on the node.
// `conflict` when the state is another one, otherwise `invalid`.
persistence::expected<void> may_commit(const persistence::snapshot& state, const std::string& node,
                                       const persistence::transaction& transaction);

// A pod of the node, by its uid; `remove` only when it is terminating.
api::expected<void> may_remove(const persistence::snapshot& state, const std::string& node,
                               const remove& removal);
api::expected<void> may_evict(const persistence::snapshot& state, const std::string& node,
                              const evict& eviction);

// The object that an event is about: the own Node or a pod of the node.
tl::expected<api::object_ptr, std::string> may_record(const persistence::snapshot& state,
                                                      const std::string& node,
                                                      const std::string& key,
                                                      const std::string& uid);

// `used`: whether a pod of the node refers to the object with that key.
tl::expected<void, std::string> may_follow(const std::string& node, const std::string& prefix,
                                           const std::string& on_node,
                                           const std::function<bool(const std::string&)>& used);

// What of a pod of any node its network policies are judged by: nothing else of it is shown to a
// node that does not run it.
api::object_ptr shown_for_policies(const api::object& pod);
// Whether a stream that a node may follow has pods of others.
bool has_pods_of_others(const std::string& prefix, const std::string& on_node);

// The config maps and secrets that the pods of one node refer to; fed with the events of the stream
// of these pods.
class node_references {
 public:
  bool used(const std::string& key) const { return count_.contains(key); }
  // The keys that nobody uses any more.
  std::vector<std::string> take(const watch_event& event);

 private:
  std::map<std::string, std::set<std::string>> of_pod_;  // by the pod's uid
  std::map<std::string, std::size_t> count_;             // pods, by key
};

}  // namespace troupe::actors

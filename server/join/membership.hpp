// Membership of the cluster: plans the joining, renewal and leaving of a node. Pure
// functions from a state of the store to a transaction, or to an error for the machine's
// user.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/messages.hpp"
#include "api/error.hpp"
#include "persistence/store/store.hpp"
#include "persistence/tree/snapshot.hpp"
#include "runtime/clock.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

// Authenticated by a node's certificate, or by a token.
struct membership_requester {
  std::string node;      // empty: by a token
  std::string key_hash;  // of the presented certificate
};

// Plans the Node for the key. A token creates it, and finds one created for the same
// key again; 409 if the name belongs to another key. A certificate replaces its own
// key; 403 if the Node is gone or has a different key. An empty transaction: nothing to
// change.
api::expected<persistence::transaction> plan_admission(
    const persistence::snapshot& state, const std::string& node, const std::string& key_hash,
    const membership_requester& by, runtime::wall_time now, std::mt19937_64& random);

// 409 if there is a Node of that name, which a joining control plane must not use.
api::expected<void> check_name_is_free(const persistence::snapshot& state, const std::string& node);

// Whether a node with that key may continue: 403 if the Node has another key. A certificate from
// joining requires a Node with its key. A kubelet whose certificate was signed by others creates
// its Node itself, without a key.
api::expected<void> check_membership(const persistence::snapshot& state, const user_info& node,
                                     std::string_view key_hash);

// One step of leaving; repeated until `gone`.
struct leave_step {
  bool gone = false;
  // Cordons the node, or removes it with its Lease. Empty: no change in this step.
  persistence::transaction transaction;
  std::vector<actors::evict> evictions;  // at most `join_defaults::evictions_at_once`
  std::vector<std::string> pods;         // remaining pods, "namespace/name"; at most as many
  std::size_t left = 0;                  // number of remaining pods
};
// `at_once`: does not evict pods; the pod garbage collector removes them.
api::expected<leave_step> plan_leave_step(const persistence::snapshot& state,
                                          const membership_requester& by, bool at_once);

}  // namespace troupe::server

// The members of the cluster: what a machine's request to become a node, to stay one or to leave
// means for the store. Pure functions from one state of it to a transaction, or to the refusal that
// the machine's user reads.
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

// By a node's own certificate, or by a token.
struct membership_asker {
  std::string node;      // empty: by a token
  std::string key_hash;  // of the certificate that it showed
};

// The Node that the key may speak for. A token makes one, and finds again the one that was made for
// the same key; 409 where the name is another's. A certificate puts another key in place of its
// own; 403 where the Node has gone or speaks for neither. An empty transaction: all is as it should
// be.
api::expected<persistence::transaction> plan_admission(
    const persistence::snapshot& state, const std::string& node, const std::string& key_hash,
    const membership_asker& by, runtime::wall_time now, std::mt19937_64& random);

// Whether a node may go on by a certificate with that key: 403 where the Node has another key. One
// that joining gave needs a Node with its key. A kubelet whose certificate somebody else had signed
// makes its Node itself, without a key.
api::expected<void> check_membership(const persistence::snapshot& state, const user_info& node,
                                     std::string_view key_hash);

// One step on the way out; asked again until it is `gone`.
struct departure {
  bool gone = false;
  // Cordons the node, or removes it with its Lease. Empty: nothing to change now.
  persistence::transaction transaction;
  std::vector<actors::evict> evictions;  // at most `join_defaults::evictions_at_once`
  std::vector<std::string> pods;         // those that are still there, "namespace/name"; as many
  std::size_t left = 0;                  // all of them
};
// `at_once` leaves pods to whoever looks after pods without a node.
api::expected<departure> plan_departure(const persistence::snapshot& state,
                                        const membership_asker& by, bool at_once);

}  // namespace troupe::server

// Input and output of the store: transactions, their outcome, and the changes
// that they make. Plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/object/object.hpp"
#include "persistence/error.hpp"

namespace troupe::persistence {

struct precondition {
  std::string key;
  // 0: the key must be absent; otherwise the revision of its last change must be this one.
  revision at = 0;
};

struct mutation {
  std::string key;
  api::kind_handle kind;
  // Null: remove the key (a precondition-less remove of an absent key is no change).
  std::unique_ptr<api::body> content;
};

// Creations that would leave more than `limit` of something in the store are refused (`exceeded`).
// Updates and deletions are never refused: a full store can still be changed, and emptied.
struct bound {
  enum class measure : std::uint8_t { objects, bytes };
  measure unit = measure::objects;
  std::string prefix = {};  // of the keys of the objects that count; bytes are those of all
  std::uint64_t limit = 0;
};

// The origin of a change; kept in the log and shown by the console's `history` and `why`. All
// of it may be absent.
struct change_cause {
  std::uint64_t request = 0;  // id of the client's request, 0 for none
  revision trigger = 0;       // the revision that the author reacted to, 0 for none
  std::string author;         // user, or actor as "kind/name"
};

// Changes a key at most once (`invalid` otherwise). One that changes nothing takes no revision.
struct transaction {
  std::vector<precondition> preconditions;
  std::vector<mutation> mutations;
  change_cause cause;
  std::vector<bound> bounds = {};
  // Of a term of leadership: where it has ended in the cluster, nothing of it happens any more
  // (`deposed`). 0: of nobody's term. A store that has no other writers takes no notice.
  revision fence = 0;
};

struct committed {
  revision at = 0;
  // The new objects, in the order of the mutations; for a removal the last state stamped with `at`,
  // null when there was nothing to remove.
  std::vector<api::object_ptr> objects;
};

using outcome = expected<committed>;
using completion = std::function<void(outcome)>;

enum class change_type : std::uint8_t { created, updated, removed };

// One key's part of a transaction, as watchers see it.
struct change {
  revision at = 0;
  change_type type = change_type::created;
  std::string key;
  // The new state; for a removal the last state, stamped with the revision of the removal.
  api::object_ptr object;
  // The state before; null for `created`.
  api::object_ptr previous;
  change_cause cause;
  std::chrono::system_clock::time_point time;
};

// All changes of one batch, in order of revision, never a part of a revision; shared by all
// readers.
using change_batch = std::shared_ptr<const std::vector<change>>;

}  // namespace troupe::persistence

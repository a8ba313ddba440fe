// The input and output of the store: transactions, their outcome and their changes. Plain
// values.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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
  // Null: remove the key (removing an absent key without a precondition changes nothing).
  std::unique_ptr<api::body> content;
};

// Refuses creations after which the store would hold more than `limit` (`exceeded`). Updates and
// deletions are never refused: a full store can still be changed and emptied.
struct bound {
  enum class measure : std::uint8_t { objects, bytes };
  measure unit = measure::objects;
  std::string prefix = {};  // counts objects with this key prefix; bytes are those of all objects
  std::uint64_t limit = 0;
};

// The origin of a change; kept in the log and shown by the console's `history` and `why`. Each
// field may be empty.
struct change_cause {
  std::uint64_t request = 0;  // id of the client's request, 0 for none
  revision trigger = 0;       // the revision that the author reacted to, 0 for none
  std::string author;         // user, or actor as "kind/name"
};

// Marks a transaction that depends on many objects, as one that a quota counts: its author has
// judged it by the state of revision `seen`. It fails (`conflict`, with a key below
// `group_prefix`) if another writer of the store has committed a transaction of the same group
// since. A store without other writers ignores it.
struct serial_group {
  std::string name;
  revision seen = 0;
};
inline constexpr std::string_view group_prefix = "/troupe/group/";

// Changes a key at most once (otherwise `invalid`). If nothing changes, no revision is used.
struct transaction {
  std::vector<precondition> preconditions;
  std::vector<mutation> mutations;
  change_cause cause;
  std::vector<bound> bounds = {};
  // The leadership term of the transaction's author: after the term has ended the transaction fails
  // (`leadership_lost`). 0: not bound to a term. A store without other writers ignores it.
  revision fence = 0;
  std::optional<serial_group> group = {};
};

struct committed {
  revision at = 0;
  // The new objects, in the order of the mutations; for a removal the last state stamped with `at`,
  // or null if the key was absent.
  std::vector<api::object_ptr> objects;
};

using outcome = expected<committed>;
using completion = std::function<void(outcome)>;

enum class change_type : std::uint8_t { created, updated, removed };

// The change of one key in a transaction, as watchers see it.
struct change {
  revision at = 0;
  change_type type = change_type::created;
  std::string key;
  // The size of the stored form of `object`; approximate for a removal that is read from the log.
  std::uint32_t stored_bytes = 0;
  // The new state; for a removal the last state, stamped with the revision of the removal.
  api::object_ptr object;
  // The previous state; null for `created`.
  api::object_ptr previous;
  change_cause cause;
  std::chrono::system_clock::time_point time;
};

// All changes of one batch, in order of revision, with whole revisions only; shared by all
// readers.
using change_batch = std::shared_ptr<const std::vector<change>>;

}  // namespace troupe::persistence

// The keys that a store writes into a shared log besides objects, and the parser of log steps.
//
//   /troupe/session/NAME written by one control plane, which all its transactions compare
//   /troupe/leader       the leader, as long as its lease lives; the key's creation begins the term
//   /troupe/cause        of the transaction at its mod revision: the author and the trigger; not of
//                        one that only removes objects while the log is full
//
//   /troupe/group/N/NAME written by a control plane with each transaction of a serial group, of
//   which
//                        N is the hash; its own ones compare those of the others
//
// A transaction whose session was written again before it commits fails for ever: that is "raising
// the session". So a control plane without an answer to a transaction knows its outcome as soon as
// the step of its raised session has arrived.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "persistence/commit/submission.hpp"
#include "persistence/replica/shared_log.hpp"

namespace troupe::persistence {

inline constexpr std::string_view own_prefix = "/troupe/";
inline constexpr std::string_view cause_key = "/troupe/cause";
inline constexpr std::string_view leader_key = "/troupe/leader";
std::string session_key(std::string_view member);
std::string group_key(std::string_view group, std::string_view member);
// True as long as no other control plane has written to the group.
std::vector<log_compare> group_compares(const serial_group& group, std::string_view member);

// Identifies a transaction: the control plane and its sequence number.
struct log_tag {
  std::string member;
  std::uint64_t sequence = 0;
  bool operator==(const log_tag& other) const = default;
};

struct cause_record {
  log_tag tag;
  change_cause cause;
  std::chrono::system_clock::time_point time;  // microseconds
};

// "member sequence request trigger microseconds author".
std::string cause_text(const cause_record& record);
// Returns nullopt for any other text.
std::optional<cause_record> read_cause(std::string_view text);

enum class term_end : std::uint8_t { unseen, resigned, expired };

// The key of the leading control plane, or its deletion.
struct leader_record {
  revision term = 0;                            // create revision of the key; 0: no leader
  std::string node;                             // name of the control plane
  std::string candidate;                        // its number, different for each start
  std::chrono::system_clock::time_point since;  // by the leader's clock, when it became a candidate
  term_end ended = term_end::unseen;            // without a leader: how the last term ended
};

// "node candidate microseconds".
std::string leader_text(const leader_record& record);
// Any other text is read as a node name without a candidate.
leader_record read_leader(revision term, std::string_view text);

struct read_step {
  decided_step step;           // only keys of known kinds
  std::optional<log_tag> tag;  // nullopt if another program wrote it
  std::optional<leader_record> leader;
};

// Fails with `corrupt` if an object of a known kind cannot be decoded.
expected<read_step> read(log_step from);
// One object of a listing; nullopt if its kind is not known here.
expected<std::optional<decided_change>> read(log_item from);

}  // namespace troupe::persistence

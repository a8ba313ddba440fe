// What a store writes into a shared log besides objects, and how a step of the log is read.
//
//   /troupe/session/ID   a number that a control plane raises; all its transactions compare it
//   /troupe/leader       who leads, as long as a lease of his lives; its creation begins the term
//   /troupe/cause        of the transaction at whose revision it was changed: who made it, and why
//
// A transaction whose session has been raised meanwhile fails for ever. So a control plane that was
// told nothing about a transaction knows what has become of it as soon as its raised session has
// arrived.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "persistence/commit/submission.hpp"
#include "persistence/replica/shared_log.hpp"

namespace troupe::persistence {

inline constexpr std::string_view own_prefix = "/troupe/";
inline constexpr std::string_view cause_key = "/troupe/cause";
inline constexpr std::string_view leader_key = "/troupe/leader";
std::string session_key(std::string_view session);

// Which transaction of which control plane it was.
struct log_tag {
  std::string session;
  std::uint64_t sequence = 0;
  bool operator==(const log_tag& other) const = default;
};

struct cause_record {
  log_tag tag;
  change_cause cause;
  std::chrono::system_clock::time_point time;  // microseconds
};

// "session sequence request trigger microseconds author".
std::string cause_text(const cause_record& record);
// Nothing for any other text.
std::optional<cause_record> read_cause(std::string_view text);

struct leader_change {
  revision created = 0;  // 0: nobody leads
  std::string name;
};

struct read_step {
  decided_step step;           // without keys that are no objects of known kinds
  std::optional<log_tag> tag;  // nothing when another program wrote it
  std::optional<leader_change> leader;
};

// An object of a known kind that cannot be decoded is `corrupt`.
expected<read_step> read(log_step from);
// One object of a listing; null when its kind is not known here.
expected<std::optional<decided_change>> read(log_item from);

}  // namespace troupe::persistence

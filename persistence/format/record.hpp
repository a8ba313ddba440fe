// The format of the rows in the store's tables. Numbers are base-128 varints. Keys of `changes` and
// `bases` are big-endian, so that they sort by revision.
//
//   objects  key                        -> created, modified, stored object
//   changes  revision 8 B, index 4 B    -> type, created, previous, when, cause, key, stored object
//   bases    revision 8 B, key          -> as objects: the state that was made at that revision
//   meta     name                       -> decimal text
//
// "Stored object" is api::to_storage, which includes its kind. The readers return nullopt for
// malformed bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "persistence/transaction.hpp"

namespace troupe::persistence {

struct stored_state {
  revision created = 0;
  revision modified = 0;
  std::string_view object;  // points into the bytes that were read
};

std::string state_head(revision created, revision modified);
std::optional<stored_state> read_state(std::string_view bytes);

struct change_id {
  revision at = 0;
  std::uint32_t index = 0;  // within the transaction
};

struct change_record {
  change_type type = change_type::created;
  revision created = 0;                        // when the key was created
  revision previous = 0;                       // the revision of the state before; 0 for `created`
  std::chrono::system_clock::time_point time;  // microseconds
  change_cause cause;
  std::string_view key;     // points into the bytes that were read
  std::string_view object;  // empty for `removed`
};

std::string change_key(change_id id);
std::optional<change_id> read_change_key(std::string_view bytes);
// The record without the object, whose bytes follow the head.
std::string change_head(const change_record& record);
std::optional<change_record> read_change(std::string_view bytes);

std::string base_key(revision at, std::string_view key);
struct base_id {
  revision at = 0;
  std::string_view key;
};
std::optional<base_id> read_base_key(std::string_view bytes);

namespace meta_key {
inline constexpr std::string_view format = "format";
inline constexpr std::string_view cluster = "cluster";
inline constexpr std::string_view compacted = "compacted";
inline constexpr std::string_view horizon = "horizon";
inline constexpr std::string_view floor = "floor";
inline constexpr std::string_view gaps = "gaps";
inline constexpr std::string_view digest = "digest";  // sealed_state
inline constexpr std::string_view logs = "logs";      // old_logs.hpp
}  // namespace meta_key

std::optional<std::uint64_t> read_number(std::string_view decimal);

}  // namespace troupe::persistence

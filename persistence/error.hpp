// The errors of the store. They are values: no exception leaves the
// room.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>

namespace troupe::persistence {

using revision = std::uint64_t;

// Links between machines transfer the numbers: add new codes at the end.
enum class errc {
  conflict,         // a precondition does not hold: see `key` and `actual`
  read_only,        // the disk failed, see the message; reads still work
  overloaded,       // the queue is full (`store_options::queue_limit`)
  compacted,        // the revision is older than the log
  future_revision,  // the revision has not happened yet
  too_large,        // a value is larger than `store_options::value_limit_bytes`
  closed,           // the store is shutting down
  locked,           // another process has the data directory open
  incompatible,     // the data directory was written in another format
  corrupt,          // the data on disk contradict themselves
  io,               // the file system reported an error
  invalid,          // the transaction is malformed: a key twice, content without a kind
  exceeded,         // a bound would be exceeded: see `key`, `actual`, `limit`
  no_space,         // the disk is nearly full: only writes that take no more space are accepted
  no_memory,        // the objects need more memory than this process may use
  leadership_lost,  // the leadership term of the transaction is over
  unknown,          // the outcome is not known: the log of the cluster does not answer
  restored,         // the log of the cluster was restored from a backup: nothing is served here
};

struct error {
  errc code;
  std::string message;      // names the object, the expected value and the remedy
  std::string key = {};     // conflict: the key whose precondition failed; exceeded: the bound's
                            // prefix ("" for a bound of bytes), or the key of the quota
  revision actual = 0;      // conflict: its revision now, 0 when absent; exceeded: the count
  std::uint64_t limit = 0;  // exceeded: the bound
};

template <class T>
using expected = tl::expected<T, error>;

inline tl::unexpected<error> fail(error e) {
  return tl::make_unexpected(std::move(e));
}
inline tl::unexpected<error> fail(errc code, std::string message) {
  return tl::make_unexpected(error{code, std::move(message)});
}

}  // namespace troupe::persistence

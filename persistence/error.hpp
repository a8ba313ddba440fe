// Errors of the store, for requests that it cannot fulfil: values, never exceptions across the
// room.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace troupe::persistence {

using revision = std::uint64_t;

enum class errc {
  conflict,         // a precondition does not hold: `key` and `actual` say which
  read_only,        // the disk failed; the message says how, and reads go on
  overloaded,       // more transactions wait than `store_options::queue_limit`
  compacted,        // the revision is older than the log
  future_revision,  // the revision has not happened yet
  too_large,        // a value is larger than `store_options::value_limit_bytes`
  closed,           // the store is shutting down
  locked,           // another process has the data directory open
  incompatible,     // the data directory was written in another format
  corrupt,          // the data on disk contradict themselves
  io,               // the file system refused
  invalid,          // the transaction itself is wrong: a key twice, content without a kind
  exceeded,         // more would be in the store than a bound allows: `key`, `actual`, `limit`
  no_space,         // the disk is nearly full: only writes that take no more of it are done
  deposed,          // another control plane leads, or none: the term of the transaction is over
  no_memory,        // the objects need more memory than this process may use
};

std::string_view to_string(errc code);

struct error {
  errc code;
  std::string message;      // names the thing, the expectation and the remedy
  std::string key = {};     // conflict: the key whose precondition failed; exceeded: the bound's
                            // prefix, "" where it is one of bytes; the quota's
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

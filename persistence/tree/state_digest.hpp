// A sum over all objects by which a store that is opened is compared with the one that was written:
// whatever file has lost a part, some object is missing, or is there at an older revision.
//
// Order-independent, so that it is kept up to date by what a batch adds and takes away. Bytes are
// not in it: a key and a revision have one content, and RocksDB has checksums for bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "persistence/tree/tree.hpp"

namespace troupe::persistence {

class state_digest {
 public:
  static state_digest of(const tree_root& state);

  void add(std::string_view key, revision created, revision modified);
  void remove(std::string_view key, revision created, revision modified);
  std::uint64_t objects() const noexcept { return objects_; }

  bool operator==(const state_digest& other) const = default;

 private:
  friend struct sealed_state;
  std::uint64_t objects_ = 0;
  std::uint64_t sum_ = 0;
};

// The digest as each batch leaves it in table::meta: "revision since objects sum".
struct sealed_state {
  revision at = 0;  // of the batch
  // A directory of format 1 got its first digest here: what its log lacks before was not noted.
  revision since = 0;
  state_digest digest;

  std::string str() const;
  // Nothing for any other text.
  static std::optional<sealed_state> read(std::string_view text);
};

}  // namespace troupe::persistence

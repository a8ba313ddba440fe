// A sum over all objects that detects a store with lost files when it is opened: if any file has
// lost a part, an object is missing or has an older revision.
//
// Order-independent, so each batch updates it by the objects that it adds and removes. Bytes are
// not included: a key and a revision determine the content, and RocksDB has checksums for bytes.
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

// The digest after each batch, in table::meta: "revision since objects sum".
struct sealed_state {
  revision at = 0;  // of the batch
  // The first digest of a directory of format 1: gaps in its older log are not
  // known.
  revision since = 0;
  state_digest digest;

  std::string str() const;
  // Returns nullopt for any other text.
  static std::optional<sealed_state> read(std::string_view text);
};

}  // namespace troupe::persistence

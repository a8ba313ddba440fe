// The interface between the store and a disk: four ordered tables of bytes, and atomic batches.
//
// RocksDB is one engine, memory another. Thread safe, except that a batch belongs to one thread.
// Errors are `io`, `no_space`, `corrupt`, `locked` or `incompatible`. After a failed write it is
// unknown what reached the disk: close the engine, open it again and read. An engine does not
// change the data before the first write.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "persistence/error.hpp"

namespace troupe::persistence {

enum class table : std::uint8_t {
  meta,     // cluster id, format version, compacted revision, revision floor and gaps
  objects,  // key -> its newest state
  changes,  // revision and index -> one change
  bases,    // revision and key -> a state that left `changes` but precedes a kept change
};

// Filled while the engine that made it is open. It can still be written later, to another engine
// opened on the same data.
class write_batch {
 public:
  virtual ~write_batch() = default;
  // The value is `head` followed by `tail`.
  virtual void put(table target, std::string_view key, std::string_view head,
                   std::string_view tail = {}) = 0;
  virtual void remove(table target, std::string_view key) = 0;
  // Removes the keys in [from, to).
  virtual void remove_range(table target, std::string_view from, std::string_view to) = 0;
  virtual void clear() = 0;
  virtual std::size_t size_bytes() const = 0;
};

enum class durability { buffered, synced };

class engine {
 public:
  using visitor = std::function<bool(std::string_view key, std::string_view value)>;

  virtual ~engine() = default;

  virtual std::unique_ptr<write_batch> make_batch() const = 0;
  // Atomic. `synced`: this batch and all earlier ones are on disk when this returns.
  virtual expected<void> write(write_batch& batch, durability level) = 0;
  virtual expected<void> sync() = 0;

  virtual expected<std::optional<std::string>> get(table target, std::string_view key) const = 0;
  // Visits in order of key from `from` on, until `visit`, which must not write, returns
  // false.
  virtual expected<void> scan(table target, std::string_view from, const visitor& visit) const = 0;
  virtual expected<std::optional<std::string>> last_key(table target) const = 0;
  virtual std::uint64_t size_bytes(table target) const = 0;
  // The last key of each file of the table, in order. Keys between two of them may be lost with one
  // file. Keys after the last were read from the write-ahead log.
  virtual std::vector<std::string> file_boundaries(table target) const = 0;

  // True when writes are so far ahead of compaction that writers should wait.
  virtual bool is_behind() const = 0;

  // Frees the space of the keys up to `to`, all of which must have been removed and synced.
  virtual expected<void> reclaim(table target, std::string_view to) = 0;
  // Rewrites all tables, so that removed rows take no space. May take long, and needs some free
  // space. Stops when `stop` is set.
  virtual expected<void> rewrite(std::atomic<bool>& stop) = 0;
  // The first failure of background work; writes may still succeed for a while.
  virtual expected<void> health() const = 0;

  // Records, outside the tables, the newest acknowledged revision; `acknowledged()` returns the
  // last one that survived. It is never newer than the store: a write-ahead log that ends before it
  // has lost acknowledged writes.
  virtual void acknowledge(revision at) = 0;
  virtual revision acknowledged() const = 0;

  // Writes and syncs a scratch file, to test for free space and a working disk.
  virtual expected<void> probe() = 0;
};

// How to open an existing directory.
enum class open_mode {
  strict,   // damage anywhere but at the very end of the write-ahead log is an error
  rewrite,  // as strict, and rewrites the log: after a failed sync it is not safe
  inspect,  // read-only, up to the first damage in the write-ahead log
  salvage,  // drop the write-ahead log from the first damage on
  rescue,   // on a disposable copy: reads all that is readable, in any order, rows may be missing
};

using engine_factory = std::function<expected<std::unique_ptr<engine>>(open_mode)>;

}  // namespace troupe::persistence

// The interface of the store to a disk: four ordered tables of bytes and atomic batches over them.
//
// RocksDB is one engine, memory another. Safe to use from several threads; a batch belongs to one.
// Errors are `io`, `no_space`, `corrupt`, `locked` or `incompatible`. After a failed write nobody
// knows what reached the disk: close the engine, open it again and read. Until the first write an
// engine leaves the data as it has found it.
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
  bases,    // revision and key -> a state that has left `changes` but a kept change began from
};

// Filled while the engine that made it lives. Afterwards it can still be written, to another engine
// opened on the same data.
class write_batch {
 public:
  virtual ~write_batch() = default;
  // The value is `head` followed by `tail`.
  virtual void put(table target, std::string_view key, std::string_view head,
                   std::string_view tail = {}) = 0;
  virtual void remove(table target, std::string_view key) = 0;
  // Removes the keys from `from` on that are smaller than `to`.
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
  // All of it or nothing. `synced`: it and everything before it is on disk when this returns.
  virtual expected<void> write(write_batch& batch, durability level) = 0;
  virtual expected<void> sync() = 0;

  virtual expected<std::optional<std::string>> get(table target, std::string_view key) const = 0;
  // Visits in order of key, from `from` on, until `visit` is false. Must not write meanwhile.
  virtual expected<void> scan(table target, std::string_view from, const visitor& visit) const = 0;
  virtual expected<std::optional<std::string>> last_key(table target) const = 0;
  virtual std::uint64_t size_bytes(table target) const = 0;
  // The last keys of the files that a table is made of, in order: what lies between two files may
  // be lost as a whole. What follows the last of them was read from the write-ahead log.
  virtual std::vector<std::string> file_boundaries(table target) const = 0;

  // Writes have gone so far ahead of their merging into the tables that they should wait for it.
  virtual bool is_behind() const = 0;

  // Gives space back that was taken by keys up to `to`, all of which have been removed and synced.
  virtual expected<void> reclaim(table target, std::string_view to) = 0;
  // Rewrites all tables, so that nothing that was removed takes space; may take long, and needs
  // some space itself. Gives up when `stop` is set.
  virtual expected<void> rewrite(std::atomic<bool>& stop) = 0;
  // The first failure of background work; writes may still succeed for a while.
  virtual expected<void> health() const = 0;

  // Remembers, outside the tables, that everything up to this revision was acknowledged;
  // `acknowledged()` is the newest that survived. Never later than the store: a disk whose log ends
  // before it has lost what it had taken.
  virtual void acknowledge(revision at) = 0;
  virtual revision acknowledged() const = 0;

  // Writes and syncs a scratch file: is there space, does the disk answer?
  virtual expected<void> probe() = 0;
};

// How to open an existing directory.
enum class open_mode {
  strict,   // damage anywhere but at the very end of the write-ahead log is an error
  rewrite,  // as strict, and what the log holds is rewritten: after a failed sync it is not safe
  inspect,  // read-only, up to the first damage in the write-ahead log
  salvage,  // drop the write-ahead log from the first damage on
  rescue,   // of a copy that nobody needs: whatever can be read, in any order, rows may be missing
};

using engine_factory = std::function<expected<std::unique_ptr<engine>>(open_mode)>;

}  // namespace troupe::persistence

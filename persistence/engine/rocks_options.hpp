// How RocksDB is set up: for small states, one writer, few files and little memory when idle.
#pragma once

#include <rocksdb/options.h>

#include "persistence/engine/engine.hpp"

namespace troupe::persistence {

// What the files of one step may take: on a small disk RocksDB works in smaller steps, so that the
// reserve is enough for one; where control groups leave little memory, with smaller buffers.
struct file_sizes {
  std::uint64_t wal_bytes, buffer_bytes, small_buffer_bytes, level_bytes;
};
file_sizes sizes_within(std::uint64_t reserve_bytes, std::uint64_t memory_bytes);

// Shared by all handles; the environment and the logger are the caller's.
rocksdb::DBOptions database_options(open_mode mode, const file_sizes& sizes);
rocksdb::ColumnFamilyOptions table_options(table target, const file_sizes& sizes);
// The name of the column family; `meta` is the default one, which RocksDB insists on.
const char* table_name(table target);

}  // namespace troupe::persistence

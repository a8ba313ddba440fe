// The options of RocksDB: for small states, one writer, few files and little memory when idle.
#pragma once

#include <rocksdb/options.h>

#include "persistence/engine/engine.hpp"

namespace troupe::persistence {

// The sizes of RocksDB's files and buffers. On a small disk they are smaller, so that the reserve
// has room for one step; with little memory in the control group the buffers are smaller.
struct file_sizes {
  std::uint64_t wal_bytes, buffer_bytes, small_buffer_bytes, level_bytes;
};
file_sizes sizes_within(std::uint64_t reserve_bytes, std::uint64_t memory_bytes);

// The database-wide options; the caller adds the environment and the logger.
rocksdb::DBOptions database_options(open_mode mode, const file_sizes& sizes);
rocksdb::ColumnFamilyOptions table_options(table target, const file_sizes& sizes);
// The name of the column family; `meta` is the default one, which RocksDB requires.
const char* table_name(table target);

}  // namespace troupe::persistence

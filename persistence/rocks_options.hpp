// How RocksDB is set up: for small states, one writer, few files and little memory when idle.
#pragma once

#include <rocksdb/options.h>

#include "persistence/engine.hpp"

namespace troupe::persistence {

// Shared by all handles; the environment and the logger are the caller's.
rocksdb::DBOptions database_options(open_mode mode);
rocksdb::ColumnFamilyOptions table_options(table which);
// The name of the column family; `meta` is the default one, which RocksDB insists on.
const char* table_name(table which);

}  // namespace troupe::persistence

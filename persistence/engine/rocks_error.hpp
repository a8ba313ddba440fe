// Translates RocksDB's errors into ours: the failed action, the directory and the remedy.
#pragma once

#include <rocksdb/status.h>

#include <string_view>

#include "persistence/error.hpp"

namespace troupe::persistence {

// `action` completes "cannot …".
error translate(const rocksdb::Status& status, std::string_view action, std::string_view directory);

}  // namespace troupe::persistence

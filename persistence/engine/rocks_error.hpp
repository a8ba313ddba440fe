// RocksDB's words in ours: what failed, where, and what a user can do.
#pragma once

#include <rocksdb/status.h>

#include <string_view>

#include "persistence/error.hpp"

namespace troupe::persistence {

// `action` completes "cannot …".
error translate(const rocksdb::Status& status, std::string_view action, std::string_view directory);

}  // namespace troupe::persistence

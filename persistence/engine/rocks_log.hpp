// RocksDB's own log: warnings and errors go to ours, the rest nowhere, and no LOG files are made.
#pragma once

#include <rocksdb/env.h>

#include <memory>

namespace troupe::persistence {

std::shared_ptr<rocksdb::Logger> make_rocks_log();

}  // namespace troupe::persistence

// RocksDB's logger: passes warnings and errors to our log, drops the rest, makes no LOG files.
#pragma once

#include <rocksdb/env.h>

#include <memory>

namespace troupe::persistence {

std::shared_ptr<rocksdb::Logger> make_rocks_log();

}  // namespace troupe::persistence

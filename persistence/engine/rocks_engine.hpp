// The engine that keeps the store in a directory: RocksDB, one column family for each table.
//
// The directory holds RocksDB's files, `ACKNOWLEDGED` (acknowledged_mark.hpp), `RESERVE`
// (space_manager.hpp) and, for a replica, `REPLICA` (replica_mark.hpp), nothing else. RocksDB's log
// messages go to our log. It does not retry background errors: write() or health() reports them to
// the store, which reopens the engine.
#pragma once

#include <memory>
#include <string>

#include "persistence/engine/engine.hpp"

namespace rocksdb {
class FileSystem;
}

namespace troupe::persistence {

// `files` (null: the real file system) is where tests inject faults.
engine_factory rocks_engine_in(std::string directory,
                               std::shared_ptr<rocksdb::FileSystem> files = nullptr);

}  // namespace troupe::persistence

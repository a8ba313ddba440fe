// The engine that keeps the store in a directory: RocksDB with one column family for each table.
//
// The directory holds RocksDB's files, `ACKNOWLEDGED` (acknowledged_mark.hpp) and `RESERVE`
// (space_keeper.hpp), nothing else. Its own log goes to ours; its background errors are not retried
// inside: a write that fails, or health(), is reported to the store, which reopens the engine.
#pragma once

#include <memory>
#include <string>

#include "persistence/engine/engine.hpp"

namespace rocksdb {
class FileSystem;
}

namespace troupe::persistence {

// `files` (null: the real file system) is the seam where tests put faults in.
engine_factory rocks_engine_in(std::string directory,
                               std::shared_ptr<rocksdb::FileSystem> files = nullptr);

}  // namespace troupe::persistence

// Makes RocksDB read the remains of a damaged directory. Use it only on a copy.
#pragma once

#include <string>

namespace troupe::persistence {

// Points CURRENT at the newest MANIFEST if it points nowhere. Makes a database in `logs` with only
// the write-ahead logs: they can be read even if the MANIFEST is lost.
void prepare_rescue(const std::string& copy, const std::string& logs);

// Writes a MANIFEST that lists all tables found in the directory.
void rebuild_manifest(const std::string& copy);

}  // namespace troupe::persistence

// How RocksDB is made to read the remains of a damaged directory. Only ever of a copy.
#pragma once

#include <string>

namespace troupe::persistence {

// Points CURRENT at the newest MANIFEST if it points nowhere, and makes a database in `logs` that
// knows nothing but the write-ahead logs: they can be read whatever has become of the MANIFEST.
void prepare_rescue(const std::string& copy, const std::string& logs);

// Makes a MANIFEST of all tables that are there.
void rebuild_manifest(const std::string& copy);

}  // namespace troupe::persistence

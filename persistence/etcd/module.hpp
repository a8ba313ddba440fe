// Loads the client of etcd. Program and module share classes, so both must have been built with the
// same headers: each contains a text with the version and a hash of them (`troupe_interface` in
// cmake/rooms.cmake).
#pragma once

#include <string>

#include "persistence/etcd/etcd.hpp"

namespace troupe::persistence {

// The text of this program.
std::string etcd_interface();

// Fails with `io` for a file that cannot be loaded, and for a module with another text. The module
// is never unloaded: gRPC's threads may still run its code.
expected<const etcd_module*> load_etcd_module(const std::string& file);

// Compares the text that a module has; null: none.
expected<void> check_etcd_interface(const std::string& file, const char* found);

}  // namespace troupe::persistence

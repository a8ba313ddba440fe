// Puts a finished directory in the place of another one.
#pragma once

#include <functional>
#include <string>

#include "persistence/error.hpp"

namespace troupe::persistence {

// Exchanges the names of two directories in one step; false if the file system cannot.
bool exchange_names(const std::string& one, const std::string& other);

// Renames `directory` to `aside`, which must not exist, and `made` to `directory`. A process that
// is killed meanwhile leaves a `directory`, unless the names cannot be exchanged: then there may be
// none beside `made`. After an error `directory` is the old one.
expected<void> replace_directory(
    const std::string& directory, const std::string& made, const std::string& aside,
    const std::function<bool(const std::string&, const std::string&)>& exchange = exchange_names);

}  // namespace troupe::persistence

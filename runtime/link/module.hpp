// Loads the transport of links. Program and module share classes, so both must have been built with
// the same headers: each contains a text with the version and a hash of them (`troupe_interface` in
// cmake/rooms.cmake).
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "runtime/link/transport.hpp"

namespace troupe::runtime::link {

// The text of this program.
std::string link_interface();

// Fails for a file that cannot be loaded, and for a module with another text. The module is never
// unloaded: threads of gRPC may execute its code.
tl::expected<const transport*, std::string> load_transport(const std::string& file);

// Compares the text that a module has; null: none.
tl::expected<void, std::string> check_link_interface(const std::string& file, const char* found);

}  // namespace troupe::runtime::link

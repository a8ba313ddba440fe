// The interface between the program and the module with gRPC.
//
// gRPC is as large as all of our code. A node without links would map it at each start without
// using it, so the transport is a module that the first listener or dialer of the process loads.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "runtime/link/link.hpp"

namespace troupe::runtime::link {

struct transport {
  const char* version;  // of Troupe; both must be of one build
  tl::expected<std::unique_ptr<listener>, std::string> (*listen)(listener_options);
  tl::expected<std::unique_ptr<dialer>, std::string> (*dial)(dialer_options);
};

// The module's only symbol.
extern "C" const transport troupe_link_transport;

// The path of the module relative to the program's folder, the same in a build and an
// installation.
inline constexpr const char* transport_module = "../lib/troupe/link.so";

}  // namespace troupe::runtime::link

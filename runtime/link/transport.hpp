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
  tl::expected<std::unique_ptr<listener>, std::string> (*listen)(listener_options);
  tl::expected<std::unique_ptr<dialer>, std::string> (*dial)(dialer_options);
};

// The module's only symbols. The text is that of the headers with which it was built (module.hpp).
extern "C" const transport troupe_link_functions;
extern "C" const char troupe_link_interface[];

// The path of the module relative to the program's folder, the same in a build and an
// installation.
inline constexpr const char* transport_module = "../lib/troupe/link.so";

}  // namespace troupe::runtime::link

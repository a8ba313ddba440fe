// The interface between the program and the module with gRPC.
//
// gRPC is as large as all that is ours. A node without links would map it at each start and use
// none of it, so the transport is a module that the first listener or dialer of the process loads.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "runtime/link/link.hpp"

namespace troupe::runtime::link {

struct transport {
  const char* version;  // of Troupe; both sides are of one build
  tl::expected<std::unique_ptr<listener>, std::string> (*listen)(listener_options);
  tl::expected<std::unique_ptr<dialer>, std::string> (*dial)(dialer_options);
};

// The module's one symbol.
extern "C" const transport troupe_link_transport;

// Where it is found from the folder of the program, as bin/ and lib/ stand to each other in a build
// and where it is installed.
inline constexpr const char* transport_module = "../lib/troupe/link.so";

}  // namespace troupe::runtime::link

// The two sides over gRPC, as link.hpp says of `listener::start` and `dialer::start`.
#pragma once

#include "runtime/link/transport.hpp"

namespace troupe::runtime::link {

tl::expected<std::unique_ptr<listener>, std::string> start_listener(listener_options options);
tl::expected<std::unique_ptr<dialer>, std::string> start_dialer(dialer_options options);

}  // namespace troupe::runtime::link

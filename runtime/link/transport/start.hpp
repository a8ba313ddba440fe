// Starts both sides over gRPC; see `listener::start` and `dialer::start` in link.hpp.
#pragma once

#include "runtime/link/transport.hpp"

namespace troupe::runtime::link {

tl::expected<std::unique_ptr<listener>, std::string> start_listener(listener_options options);
tl::expected<std::unique_ptr<dialer>, std::string> start_dialer(dialer_options options);

}  // namespace troupe::runtime::link

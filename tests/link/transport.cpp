// This program tests the transport itself, so it links it; other programs load the module.
#include "runtime/link/transport/start.hpp"

namespace troupe::runtime::link {

tl::expected<std::unique_ptr<listener>, std::string> listener::start(listener_options options) {
  return start_listener(std::move(options));
}

tl::expected<std::unique_ptr<dialer>, std::string> dialer::start(dialer_options options) {
  return start_dialer(std::move(options));
}

}  // namespace troupe::runtime::link

#include "runtime/link/transport/start.hpp"

namespace troupe::runtime::link {

extern "C" __attribute__((visibility("default")))
const transport troupe_link_transport{TROUPE_VERSION, start_listener, start_dialer};

}  // namespace troupe::runtime::link

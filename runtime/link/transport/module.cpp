#include "runtime/link/transport/start.hpp"

namespace troupe::runtime::link {

extern "C" __attribute__((visibility("default")))
const transport troupe_link_functions{start_listener, start_dialer};

extern "C" __attribute__((visibility("default"))) const char troupe_link_interface[] =
    TROUPE_LINK_INTERFACE;

}  // namespace troupe::runtime::link

#include "persistence/etcd/client/etcd_log.hpp"
#include "persistence/etcd/client/member_calls.hpp"

namespace troupe::persistence::etcd {

extern "C" __attribute__((visibility("default")))
const etcd_module troupe_etcd_functions{etcd_log::open, member_calls::open};

extern "C" __attribute__((visibility("default"))) const char troupe_etcd_interface[] =
    TROUPE_ETCD_INTERFACE;

}  // namespace troupe::persistence::etcd

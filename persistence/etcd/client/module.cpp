#include "persistence/etcd/client/etcd_log.hpp"

namespace troupe::persistence::etcd {

extern "C" __attribute__((visibility("default")))
const etcd_module troupe_etcd{TROUPE_VERSION, etcd_log::open};

}  // namespace troupe::persistence::etcd

#include "persistence/etcd/client/etcd_log.hpp"
#include "persistence/etcd/client/member_calls.hpp"

namespace troupe::persistence::etcd {

extern "C" __attribute__((visibility("default")))
const etcd_module troupe_etcd{TROUPE_VERSION, etcd_log::open, member_calls::open};

}  // namespace troupe::persistence::etcd

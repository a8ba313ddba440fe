#include "actors/replication/claims.hpp"

#include "actors/replication/pod_record.hpp"

namespace troupe::actors::replication {

claim judge(const replica_owner& owner, const api::object& pod) {
  const auto& meta = pod.meta();
  if (meta.namespace_() != owner.space()) return claim::ignore;
  const bool matches = owner.selects(meta.labels());
  const auto controller = controller_uid(pod);
  if (!controller.empty()) {
    if (controller != owner.uid()) return claim::ignore;
    if (matches) return claim::keep;
    return owner.deleting() ? claim::ignore : claim::release;
  }
  if (!matches || owner.deleting() || meta.has_deletion_timestamp()) return claim::ignore;
  return claim::adopt;
}

}  // namespace troupe::actors::replication

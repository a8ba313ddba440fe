#include "actors/kubelet/pods/container_order.hpp"

#include <algorithm>

namespace troupe::actors {

namespace {

using enum container_role;

bool ended_for_good(const api::core::v1::Pod& pod, const container_record& record) {
  return record.phase == container_phase::exited && !restarts(pod, record);
}

bool has_begun(const container_record& record, const std::string& sandbox) {
  const bool begun = record.phase != container_phase::waiting || record.last || record.attempt != 0;
  return begun && (record.sandbox.empty() || record.sandbox == sandbox);
}

}  // namespace

bool is_outcome_decided(const api::core::v1::Pod& pod, const std::vector<container_record>& all) {
  bool any_main = false, mains_over = true;
  for (const auto& record : all) {
    if (record.role == init && ended_for_good(pod, record) && !record.succeeded()) return true;
    if (record.role != main) continue;
    any_main = true;
    mains_over &= ended_for_good(pod, record);
  }
  return any_main && mains_over;
}

bool may_start_next(const container_record& record, const std::vector<container_record>& all,
                    const std::string& sandbox) {
  if (record.role == init) return record.succeeded();
  if (record.role != sidecar || record.has_started()) return true;
  const auto self = std::find_if(all.begin(), all.end(),
                                 [&](const auto& other) { return other.name == record.name; });
  return self != all.end() && std::any_of(std::next(self), all.end(), [&](const auto& other) {
           return has_begun(other, sandbox);
         });
}

bool has_turn_to_end(const container_record& record, const std::vector<container_record>& all) {
  if (record.role != sidecar) return true;
  bool after = false;
  for (const auto& other : all) {
    if (other.name == record.name) {
      after = true;
    } else if (other.runs() &&
               (other.role == main || other.role == init || (after && other.role == sidecar))) {
      return false;
    }
  }
  return true;
}

}  // namespace troupe::actors

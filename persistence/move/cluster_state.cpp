#include "persistence/move/cluster_state.hpp"

#include <utility>

#include "persistence/replica/defaults.hpp"

namespace troupe::persistence {

restored_source::restored_source(state_source& from)
    : from_{from}, head_{from.head().cluster, from.head().at + defaults::restore_gap} {}

expected<copy_report> copy_state(state_source& from, state_target& to,
                                 const std::function<void(const copy_report&)>& progress) {
  copy_report report{from.head()};
  if (auto begun = to.begin(report.head); !begun) return fail(std::move(begun.error()));
  for (;;) {
    auto items = from.next();
    if (!items) return fail(std::move(items.error()));
    if (items->empty()) break;
    for (const auto& each : *items) {
      ++report.objects;
      report.bytes += each.key.size() + each.value.size();
    }
    if (auto added = to.add(std::move(*items)); !added) return fail(std::move(added.error()));
    progress(report);
  }
  if (auto finished = to.finish(); !finished) return fail(std::move(finished.error()));
  return report;
}

}  // namespace troupe::persistence

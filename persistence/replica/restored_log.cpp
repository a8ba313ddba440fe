#include "persistence/replica/restored_log.hpp"

#include <algorithm>

#include "persistence/replica/cluster_record.hpp"

namespace troupe::persistence {

bool log_anchor::is_in(const log_page& page) const {
  const auto found = std::find_if(page.items.begin(), page.items.end(),
                                  [](const log_item& each) { return each.key == cause_key; });
  if (found == page.items.end()) return false;
  const auto record = read_cause(found->value);
  if (!record) return true;  // of another program: not comparable
  // The log keeps microseconds.
  return found->modified == at &&
         record->time == std::chrono::floor<std::chrono::microseconds>(time);
}

log_anchor anchor_of(const store& here) {
  const auto at = here.read().at();
  const auto last = here.changes(at - 1, 1);
  if (!last || last->empty() || last->front().at != at || last->front().cause.author.empty())
    return {};
  return {at, last->front().time};
}

bool is_restored(const log_step& step, const std::string& identity) {
  return std::any_of(step.changes.begin(), step.changes.end(), [&](const log_change& each) {
    if (each.key != cluster_key || !each.value) return false;
    const auto record = read_cluster(*each.value);
    return record && record->identity() != identity;
  });
}

}  // namespace troupe::persistence

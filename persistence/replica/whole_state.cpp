#include "persistence/replica/whole_state.hpp"

#include <algorithm>

#include "persistence/replica/cluster_record.hpp"

namespace troupe::persistence {

expected<void> whole_state::add(log_page page) {
  at_ = page.at;
  for (auto& each : page.items) {
    remove_before(each.key);
    last_ = each.key;
    if (each.key == leader_key) leader_ = read_leader(each.created, each.value);
    if (each.key == cause_key)
      if (const auto last = read_cause(each.value)) anchor_ = {each.modified, last->time};
    if (each.key == cluster_key)
      if (const auto record = read_cluster(each.value)) identity_ = record->identity();
    const auto found = here_.find(each.key);
    if (found && found->revision() == each.modified) continue;
    auto next = read(std::move(each));
    if (!next) return fail(std::move(next.error()));
    if (*next) changed_.push_back(std::move(**next));
  }
  return {};
}

// Removes local objects that no page contains between the last key and this one; an empty key is
// the end.
void whole_state::remove_before(std::string_view key) {
  here_.scan({}, last_, [&](std::string_view found, const api::object_ptr&) {
    if (!key.empty() && found >= key) return false;
    removed_.push_back({std::string{found}, nullptr, {}, 0});
    return true;
  });
}

decided_step whole_state::difference() {
  remove_before({});
  std::stable_sort(changed_.begin(), changed_.end(), [](const auto& a, const auto& b) {
    return a.object->revision() < b.object->revision();
  });
  std::move(removed_.begin(), removed_.end(), std::back_inserter(changed_));
  removed_.clear();
  return {at_, std::move(changed_), {}, {}, true};
}

}  // namespace troupe::persistence

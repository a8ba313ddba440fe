#include "actors/link/late_states.hpp"

#include "actors/link/defaults.hpp"

namespace troupe::actors {

bool late_states::counts(persistence::store& store, const std::string& node) {
  if (!store.is_shared()) return true;
  {
    const std::lock_guard lock{calls_->mutex};
    auto& passed = calls_->passed;
    if (const auto found = passed.find(node); found != passed.end()) {
      if (!found->second) return false;
      passed.erase(found);
      return true;
    }
    if (passed.size() >= link_defaults::refusals_under_way) passed.clear();
    passed[node] = false;
  }
  store.barrier([calls = calls_, node](const persistence::expected<persistence::revision>& at) {
    const std::lock_guard lock{calls->mutex};
    if (at)
      calls->passed[node] = true;
    else
      calls->passed.erase(node);
  });
  return false;
}

}  // namespace troupe::actors

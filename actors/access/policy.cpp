#include "actors/access/policy.hpp"

#include <algorithm>

#include "api/scheme.hpp"

namespace troupe::actors::access {

policy::policy() : index_{std::make_shared<const policy_index>()} {}

void policy::load(const persistence::store& store) {
  using namespace api::rbac::v1;
  const std::lock_guard lock{changing_};
  const auto state = store.read();
  auto made = std::make_shared<policy_index>();
  for (const auto* kind : {&api::kind_of<Role>(), &api::kind_of<ClusterRole>(),
                           &api::kind_of<RoleBinding>(), &api::kind_of<ClusterRoleBinding>()})
    state.scan(kind->prefix(), {}, [&](std::string_view, const api::object_ptr& found) {
      made->change(nullptr, found);
      return true;
    });
  loaded_ = state.at();
  index_.store(std::move(made), std::memory_order_release);
}

void policy::take(const std::vector<persistence::change>& changes) {
  const auto concerns = [](const persistence::change& each) {
    return policy_index::is_policy(each.object->kind());
  };
  if (std::none_of(changes.begin(), changes.end(), concerns)) return;
  const std::lock_guard lock{changing_};
  auto changed = std::make_shared<policy_index>(*now());
  for (const auto& each : changes) {
    if (each.at <= loaded_ || !concerns(each)) continue;
    const bool gone = each.type == persistence::change_type::removed;
    // A removed object is its last state with a new revision: it has the content of the one before.
    changed->change(each.previous ? each.previous : (gone ? each.object : nullptr),
                    gone ? nullptr : each.object);
  }
  index_.store(std::move(changed), std::memory_order_release);
}

}  // namespace troupe::actors::access

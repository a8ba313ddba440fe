#include "actors/access/policy.hpp"

#include <algorithm>

#include "api/scheme.hpp"

namespace troupe::actors::access {

policy::policy() : index_{std::make_shared<const policy_index>()} {}

void policy::load(const persistence::snapshot& state) {
  using namespace api::rbac::v1;
  auto made = std::make_shared<policy_index>();
  for (const auto* kind : {&api::kind_of<Role>(), &api::kind_of<ClusterRole>(),
                           &api::kind_of<RoleBinding>(), &api::kind_of<ClusterRoleBinding>()})
    state.scan(kind->prefix(), {}, [&](std::string_view, const api::object_ptr& found) {
      made->change(nullptr, found);
      return true;
    });
  index_.store(std::move(made), std::memory_order_release);
}

void policy::take(const std::vector<persistence::change>& changes) {
  const auto concerns = [](const persistence::change& each) {
    return policy_index::is_policy(each.object->kind());
  };
  if (std::none_of(changes.begin(), changes.end(), concerns)) return;
  auto changed = std::make_shared<policy_index>(*now());
  for (const auto& each : changes) {
    if (!concerns(each)) continue;
    const bool gone = each.type == persistence::change_type::removed;
    // The object of a removal is the last state with a new revision.
    changed->change(each.previous ? each.previous : (gone ? each.object : nullptr),
                    gone ? nullptr : each.object);
  }
  index_.store(std::move(changed), std::memory_order_release);
}

}  // namespace troupe::actors::access

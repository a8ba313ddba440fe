#include "actors/garbage/garbage_rules.hpp"

#include <algorithm>

#include "actors/core/finalizers.hpp"
#include "api/kind_row.hpp"
#include "api/removed_versions.hpp"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::meta::v1::OwnerReference;

bool awaits_dependents(const api::object& object) {
  return object.meta().has_deletion_timestamp() &&
         (has_finalizer(object.meta(), finalizer_orphan) ||
          has_finalizer(object.meta(), finalizer_foreground));
}

bool same_dependence(const api::object& a, const api::object& b) {
  const auto& x = a.meta();
  const auto& y = b.meta();
  return x.uid() == y.uid() && x.has_deletion_timestamp() == y.has_deletion_timestamp() &&
         std::equal(x.finalizers().begin(), x.finalizers().end(), y.finalizers().begin(),
                    y.finalizers().end()) &&
         std::equal(x.owner_references().begin(), x.owner_references().end(),
                    y.owner_references().begin(), y.owner_references().end(),
                    [](const OwnerReference& one, const OwnerReference& other) {
                      return one.uid() == other.uid() &&
                             one.block_owner_deletion() == other.block_owner_deletion();
                    });
}

api::kind_handle kind_of_owner(const OwnerReference& owner) {
  auto found = api::scheme::instance().find(owner.api_version(), owner.kind());
  return found ? found : api::find_removed_version(owner.api_version(), owner.kind());
}

owner_state state_of(const api::object& dependent, const OwnerReference& owner,
                     const persistence::snapshot& state) {
  const auto kind = kind_of_owner(owner);
  if (!kind || !api::home_of(*kind).stored()) return owner_state::solid;
  const auto& ns = dependent.meta().namespace_();
  if (kind->namespaced() && ns.empty()) return owner_state::solid;
  const auto found = state.find(kind->key(kind->namespaced() ? ns : "", owner.name()));
  if (!found || found->meta().uid() != owner.uid()) return owner_state::absent;
  const bool waits =
      found->meta().has_deletion_timestamp() && has_finalizer(found->meta(), finalizer_foreground);
  return waits ? owner_state::waiting : owner_state::solid;
}

garbage_decision classify(const api::object& object, const std::vector<std::string>& dependents,
                          const persistence::snapshot& state,
                          const std::function<bool(const std::string& uid)>& is_absent) {
  garbage_decision decision;
  const auto& owners = object.meta().owner_references();
  if (owners.empty() || object.meta().has_deletion_timestamp()) return decision;
  bool solid = false, waiting = false, blocks = false;
  for (const auto& owner : owners) {
    const bool gone = is_absent && !kind_of_owner(owner) && is_absent(owner.uid());
    const auto is = gone ? owner_state::absent : state_of(object, owner, state);
    solid = solid || is == owner_state::solid;
    waiting = waiting || is == owner_state::waiting;
    blocks = blocks || owner.block_owner_deletion();
    if (is != owner_state::solid) decision.lost_owners.push_back(owner.uid());
  }
  if (solid) {
    if (!decision.lost_owners.empty()) decision.step = garbage_step::strip;
    return decision;
  }
  decision.step = garbage_step::remove;
  if (waiting && !dependents.empty()) {
    // Its dependents are deleted first. If one of them waits as well, both would wait for ever.
    const bool circle = std::any_of(dependents.begin(), dependents.end(), [&](const auto& key) {
      const auto found = state.find(key);
      return found && found->meta().has_deletion_timestamp() &&
             has_finalizer(found->meta(), finalizer_foreground);
    });
    if (circle && blocks) decision.step = garbage_step::unblock;
    decision.propagation = "Foreground";
  } else if (has_finalizer(object.meta(), finalizer_orphan)) {
    decision.propagation = "Orphan";
  } else {
    decision.propagation =
        has_finalizer(object.meta(), finalizer_foreground) ? "Foreground" : "Background";
  }
  return decision;
}

std::unique_ptr<api::body> without_owners(const api::object& object,
                                          const std::vector<std::string>& uids) {
  auto copy = object.copy();
  auto& owners = *api::meta_of(*copy).mutable_owner_references();
  owners.erase(std::remove_if(owners.begin(), owners.end(),
                              [&](const OwnerReference& each) {
                                return std::find(uids.begin(), uids.end(), each.uid()) !=
                                       uids.end();
                              }),
               owners.end());
  return copy;
}

std::unique_ptr<api::body> without_blocking(const api::object& object) {
  auto copy = object.copy();
  for (auto& each : *api::meta_of(*copy).mutable_owner_references()) {
    each.set_block_owner_deletion(false);
  }
  return copy;
}

}  // namespace troupe::actors

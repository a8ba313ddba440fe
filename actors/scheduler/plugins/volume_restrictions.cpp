// Allows only one pod at a time for a claim with access mode ReadWriteOncePod.
//
// kubernetes: pkg/scheduler/framework/plugins/volumerestrictions, except for cloud disks, which our
// kubelet cannot mount.
#include <algorithm>
#include <map>

#include "actors/scheduler/plugins/plugins.hpp"
#include "actors/volumes/protection_rules.hpp"

namespace troupe::actors::scheduler {

namespace {

struct exclusive_claims {
  std::vector<std::string> names;
  std::map<std::string, std::size_t> users = {};  // by node: pods that use one of the claims
};

std::size_t users_on(const node_info& node, const pod_info& pod,
                     const std::vector<std::string>& names) {
  const auto uses = [&](const pod_info_ptr& other) {
    if (other->pod->meta().namespace_() != pod.pod->meta().namespace_()) return false;
    const auto claims = volumes::claims_of(other->body());
    return std::any_of(claims.begin(), claims.end(), [&](const auto& claim) {
      return std::find(names.begin(), names.end(), claim.claim) != names.end();
    });
  };
  return static_cast<std::size_t>(std::count_if(node.pods().begin(), node.pods().end(), uses));
}

class volume_restrictions : public plugin, public pre_filter_plugin, public filter_plugin {
 public:
  std::string_view name() const noexcept override { return "VolumeRestrictions"; }
  std::uint32_t helped_by() const noexcept override { return pod_deleted | volumes_changed; }

  // Visits all pods, but only for the few pods with such a claim.
  status pre_filter(cycle& notes, const pod_info& pod, const cluster_view& view) const override {
    exclusive_claims found;
    for (const auto& each : volumes::claims_of(pod.body())) {
      const auto claim = view.volumes().claim(pod.pod->meta().namespace_(), each.claim);
      if (!claim) continue;
      const auto& modes = claim->as<volumes::PersistentVolumeClaim>().spec().access_modes();
      if (std::find(modes.begin(), modes.end(), "ReadWriteOncePod") != modes.end())
        found.names.push_back(each.claim);
    }
    if (found.names.empty()) return {status_code::skip, {}};
    for (const auto* node : view.nodes())
      if (const auto users = users_on(*node, pod, found.names); users != 0)
        found.users[node->name()] = users;
    notes.make<exclusive_claims>(index()) = std::move(found);
    return {};
  }

  // Preemption helps only if the single user is on this node.
  status filter(const cycle& notes, const pod_info& pod, const node_info& node) const override {
    const auto& found = notes.get<exclusive_claims>(index());
    const bool here_alone = found.users.size() == 1 && found.users.contains(node.name());
    if (found.users.empty() || (here_alone && users_on(node, pod, found.names) == 0)) return {};
    return {status_code::unschedulable,
            "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod "
            "access mode"};
  }
};

}  // namespace

std::unique_ptr<plugin> make_volume_restrictions() {
  return std::make_unique<volume_restrictions>();
}

}  // namespace troupe::actors::scheduler

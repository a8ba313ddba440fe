// Requires that the node can attach the pod's volumes, within its drivers' limits (CSINode).
//
// kubernetes: pkg/scheduler/framework/plugins/nodevolumelimits, csi.go.
#include <algorithm>
#include <map>
#include <set>

#include "actors/scheduler/plugins/plugins.hpp"
#include "actors/volumes/protection_rules.hpp"

namespace troupe::actors::scheduler {

namespace {

using api::storage::v1::CSINode;
// Volume handles by driver.
using driver_volumes = std::map<std::string, std::set<std::string>>;

struct wanted_volumes {
  driver_volumes of_pod;
  const volume_view* volumes = nullptr;
};

void add(driver_volumes& to, const volume_view& view, const pod_info& pod) {
  for (const auto& each : volumes::claims_of(pod.body())) {
    const auto claim = view.claim(pod.pod->meta().namespace_(), each.claim);
    if (!claim) continue;
    const auto& name = claim->as<volumes::PersistentVolumeClaim>().spec().volume_name();
    const auto volume = name.empty() ? nullptr : view.volume(name);
    if (!volume) continue;
    const auto& source =
        volume->as<volumes::PersistentVolume>().spec().persistent_volume_source().csi();
    if (!source.driver().empty()) to[source.driver()].insert(source.volume_handle());
  }
}

class node_volume_limits : public plugin, public pre_filter_plugin, public filter_plugin {
 public:
  std::string_view name() const noexcept override { return "NodeVolumeLimits"; }
  std::uint32_t helped_by() const noexcept override {
    return node_added | pod_deleted | volumes_changed;
  }

  status pre_filter(cycle& notes, const pod_info& pod, const cluster_view& view) const override {
    driver_volumes wanted;
    add(wanted, view.volumes(), pod);
    if (wanted.empty()) return {status_code::skip, {}};
    notes.make<wanted_volumes>(index()) = {std::move(wanted), &view.volumes()};
    return {};
  }

  status filter(const cycle& notes, const pod_info&, const node_info& node) const override {
    const auto& [wanted, view] = notes.get<wanted_volumes>(index());
    const auto found = view->driver_limits(node.name());
    if (!found) return {};
    driver_volumes here;
    for (const auto& pod : node.pods())
      add(here, *view, *pod);
    for (const auto& driver : found->as<CSINode>().spec().drivers()) {
      const auto more = wanted.find(driver.name());
      if (more == wanted.end() || !driver.allocatable().has_count()) continue;
      auto all = here[driver.name()];
      all.insert(more->second.begin(), more->second.end());
      const auto limit = static_cast<std::size_t>(std::max(driver.allocatable().count(), 0));
      if (all.size() > here[driver.name()].size() && all.size() > limit)
        return {status_code::unschedulable, "node(s) exceed max volume count"};
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<plugin> make_node_volume_limits() {
  return std::make_unique<node_volume_limits>();
}

}  // namespace troupe::actors::scheduler

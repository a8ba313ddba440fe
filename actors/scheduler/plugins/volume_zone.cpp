// Requires the node to be in the zone and region of the pod's volumes.
//
// kubernetes: pkg/scheduler/framework/plugins/volumezone.
#include <algorithm>
#include <array>

#include "actors/scheduler/plugins/plugins.hpp"
#include "actors/volumes/protection_rules.hpp"

namespace troupe::actors::scheduler {

namespace {

constexpr std::array zone_labels{"topology.kubernetes.io/zone", "topology.kubernetes.io/region",
                                 "failure-domain.beta.kubernetes.io/zone",
                                 "failure-domain.beta.kubernetes.io/region"};

// A volume's label may name several zones: "a__b".
bool names(const std::string& zones, const std::string& zone) {
  for (std::size_t begin = 0; begin <= zones.size();) {
    const auto end = std::min(zones.find("__", begin), zones.size());
    if (zones.compare(begin, end - begin, zone) == 0) return true;
    begin = end + 2;
  }
  return false;
}

class volume_zone : public plugin, public pre_filter_plugin, public filter_plugin {
 public:
  std::string_view name() const noexcept override { return "VolumeZone"; }
  std::uint32_t helped_by() const noexcept override {
    return node_added | node_labels_changed | volumes_changed;
  }

  status pre_filter(cycle& notes, const pod_info& pod, const cluster_view& view) const override {
    const auto claims = volumes::claims_of(pod.body());
    if (claims.empty()) return {status_code::skip, {}};
    std::vector<std::pair<std::string, std::string>> wanted;
    for (const auto& each : claims) {
      const auto claim = view.volumes().claim(pod.pod->meta().namespace_(), each.claim);
      if (!claim) continue;
      const auto& name = claim->as<volumes::PersistentVolumeClaim>().spec().volume_name();
      const auto volume = name.empty() ? nullptr : view.volumes().volume(name);
      if (!volume) continue;
      for (const auto* label : zone_labels)
        if (const auto found = volume->meta().labels().find(label);
            found != volume->meta().labels().end())
          wanted.emplace_back(found->first, found->second);
    }
    if (wanted.empty()) return {status_code::skip, {}};
    notes.make<decltype(wanted)>(index()) = std::move(wanted);
    return {};
  }

  status filter(const cycle& notes, const pod_info&, const node_info& node) const override {
    using labels = std::vector<std::pair<std::string, std::string>>;
    // A node without these labels is in no zone and fits.
    if (std::none_of(zone_labels.begin(), zone_labels.end(),
                     [&](const char* label) { return node.labels().contains(label); }))
      return {};
    for (const auto& [label, zones] : notes.get<labels>(index())) {
      const auto found = node.labels().find(label);
      if (found == node.labels().end() || !names(zones, found->second))
        return {status_code::unresolvable, "node(s) had no available volume zone"};
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<plugin> make_volume_zone() {
  return std::make_unique<volume_zone>();
}

}  // namespace troupe::actors::scheduler

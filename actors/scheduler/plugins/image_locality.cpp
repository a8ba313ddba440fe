// Prefers nodes that have the pod's images, weighted by image size and by the share of nodes that
// have them, because otherwise all pods of an image would gather on one node.
//
// kubernetes: pkg/scheduler/framework/plugins/imagelocality.
#include <algorithm>

#include "actors/scheduler/framework/defaults.hpp"
#include "actors/scheduler/plugins/plugins.hpp"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::scheduler {

namespace {

struct pod_images {
  std::vector<const cluster_view::image_sizes*> known;
  std::int64_t containers = 0, nodes = 0;
};

// As in a node's list: without tag and digest the tag is latest.
std::string normalized(const std::string& image) {
  const auto colon = image.rfind(':'), slash = image.rfind('/');
  const bool tagged = colon != std::string::npos && (slash == std::string::npos || colon > slash);
  return tagged ? image : image + ":latest";
}

class image_locality : public plugin, public pre_score_plugin, public score_plugin {
 public:
  std::string_view name() const noexcept override { return "ImageLocality"; }

  status pre_score(cycle& notes, const pod_info& pod, const cluster_view& view,
                   const std::vector<const node_info*>&) const override {
    pod_images images;
    const auto look_at = [&](const auto& containers) {
      for (const auto& container : containers) {
        ++images.containers;
        if (const auto* sizes = view.image(normalized(container.image())))
          images.known.push_back(sizes);
      }
    };
    look_at(pod.body().spec().init_containers());
    look_at(pod.body().spec().containers());
    if (images.known.empty()) return {status_code::skip, {}};
    images.nodes = static_cast<std::int64_t>(view.nodes().size());
    notes.make<pod_images>(index()) = std::move(images);
    return {};
  }

  std::int64_t score(const cycle& notes, const pod_info&, const node_info& node) const override {
    const auto& images = notes.get<pod_images>(index());
    std::int64_t sum = 0;
    for (const auto* sizes : images.known)
      if (const auto here = sizes->find(&node); here != sizes->end())
        sum += here->second * static_cast<std::int64_t>(sizes->size()) / images.nodes;
    const auto least = defaults::least_image_bytes;
    const auto most = defaults::most_image_bytes * images.containers;
    return max_score * (std::clamp(sum, least, most) - least) / (most - least);
  }
};

}  // namespace

std::unique_ptr<plugin> make_image_locality() {
  return std::make_unique<image_locality>();
}

}  // namespace troupe::actors::scheduler

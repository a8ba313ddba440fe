// The part of the CRI runtime that measures containers and their writable layers.
#include <map>
#include <utility>

#include "actors/kubelet/os/disk.hpp"
#include "actors/kubelet/runtimes/cri/cri_runtime.hpp"
#include "actors/kubelet/runtimes/cri/pod_groups.hpp"

namespace troupe::actors {

namespace {

std::string pod_uid_of(const cri::ContainerAttributes& container) {
  const auto found = container.labels().find(cri_labels::pod_uid);
  return found == container.labels().end() ? std::string{} : found->second;
}

// The server also lists former attempts. Blocks on disk.
std::vector<layer_usage> newest_layers(const cri::ListContainerStatsResponse& from,
                                       const std::filesystem::path& root_dir) {
  std::map<std::pair<std::string, std::string>, const cri::ContainerStats*> newest;
  for (const auto& each : from.stats()) {
    const auto& about = each.attributes();
    auto& known = newest[{pod_uid_of(about), about.metadata().name()}];
    if (known == nullptr || known->attributes().metadata().attempt() < about.metadata().attempt())
      known = &each;
  }
  std::vector<layer_usage> all;
  for (const auto& [container, stats] : newest) {
    const auto& layer = stats->writable_layer();
    const bool apart = on_other_disk(layer.fs_id().mountpoint(), root_dir).value_or(false);
    all.push_back({container.first, container.second,
                   static_cast<std::int64_t>(layer.used_bytes().value()),
                   static_cast<std::int64_t>(layer.inodes_used().value()), apart});
  }
  return all;
}

}  // namespace

void cri_runtime::read_usage(std::function<void(std::vector<container_counters>)> done) {
  client_->runtime<cri::ListContainerStatsResponse>(
      "ListContainerStats", cri::ListContainerStatsRequest{}, [this, done](const auto& answer) {
        std::vector<container_counters> all;
        const auto at = machine_now();
        if (answer)
          for (const auto& each : answer->stats()) {
            if (!each.has_cpu()) continue;  // it has ended
            const auto& about = each.attributes();
            const auto& memory = each.memory();
            all.push_back({.pod_uid = pod_uid_of(about),
                           .container = about.metadata().name(),
                           .id = own_id(about.id()),
                           .counters = {at, each.cpu().usage_core_nano_seconds().value(),
                                        memory.working_set_bytes().value(),
                                        memory.usage_bytes().value(), memory.rss_bytes().value()}});
          }
        done(std::move(all));
      });
}

void cri_runtime::read_layers(const std::string& pod_uid,
                              std::function<void(std::vector<layer_usage>)> done) {
  cri::ListContainerStatsRequest request;
  if (!pod_uid.empty())
    (*request.mutable_filter()->mutable_label_selector())[cri_labels::pod_uid] = pod_uid;
  client_->runtime<cri::ListContainerStatsResponse>(
      "ListContainerStats", request, [this, done](const auto& answer) {
        if (!answer) return done({});
        const auto read = [root_dir = node_.root_dir, stats = *answer, done] {
          done(newest_layers(stats, root_dir));
        };
        if (!jobs_.post(read)) done({});
      });
}

void cri_runtime::count_processes(std::vector<api::object_ptr> pods,
                                  std::function<void(std::vector<std::int64_t>)> done) {
  const auto count = [pods = std::move(pods), driver = groups(), done] {
    std::vector<std::int64_t> all;
    for (const auto& each : pods)
      all.push_back(processes_of(each->as<api::core::v1::Pod>(), groups_top, driver));
    done(std::move(all));
  };
  if (!jobs_.post(count)) done({});
}

}  // namespace troupe::actors

#include "actors/kubelet/kubelet.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>

#include "actors/condition.hpp"
#include "actors/kubelet/defaults.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::core::v1::Node;
using api::core::v1::Pod;

namespace {

std::string first_line(const char* path) {
  std::ifstream file{path};
  std::string line;
  std::getline(file, line);
  return line;
}

std::string os_name() {
  std::ifstream file{"/etc/os-release"};
  constexpr std::string_view wanted = "PRETTY_NAME=\"";
  for (std::string line; std::getline(file, line);)
    if (line.rfind(wanted, 0) == 0)
      return line.substr(wanted.size(), line.size() - wanted.size() - 1);
  return "Linux";
}

// With the uid: a pod may be made again under its name while the old one is still ending.
std::string worker_name(const api::object& pod) {
  return fmt::format("{}/{}/{}", pod.meta().namespace_(), pod.meta().name(), pod.meta().uid());
}

}  // namespace

runtime::actor_ref spawn_kubelet(runtime::system& company, const doors& to,
                                 kubelet_options options) {
  auto containers = std::make_shared<process_runtime>(options.program);
  return company.spawn({.kind = "kubelet", .name = options.node}, [options, to, containers] {
    return std::make_unique<kubelet>(options, to, containers);
  });
}

kubelet::kubelet(kubelet_options options, doors to, std::shared_ptr<process_runtime> containers)
    : node_agent{options.node, to, options.timing},
      options_{std::move(options)},
      containers_{std::move(containers)},
      around_{new kubelet_surroundings{.to = to,
                                       .containers = containers_.get(),
                                       .read = options_.read,
                                       .root_dir = options_.root_dir,
                                       .node = options_.node,
                                       .place = {options_.address, options_.address}}} {}

const runtime::behavior& kubelet::make_behavior() const {
  static const runtime::behavior table = runtime::handlers(
      &kubelet::on_watch_events, &kubelet::on_watch_ended, &kubelet::on_child_ended);
  return table;
}

void kubelet::started() {
  std::error_code problem;
  std::filesystem::create_directories(options_.root_dir / "pods", problem);
  ::chmod(options_.root_dir.c_str(), 0750);
  follow_node();
  follow(api::kind_of<Pod>().prefix(), [this](const watch_events& m) { on_pods(m); },
         {.on_node = node()});
}

std::string kubelet::describe() const {
  return fmt::format("node: {}\nrootDir: {}\npods: {}\n", node(), options_.root_dir.string(),
                     workers_.size());
}

void kubelet::on_pods(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    const auto& uid = event.object->meta().uid();
    const bool gone = event.type == event_type::deleted;
    auto& worker = workers_[uid];
    if (!worker && gone) {
      workers_.erase(uid);
      continue;
    }
    if (!worker) {
      const auto key =
          event.object->kind().key(event.object->meta().namespace_(), event.object->meta().name());
      worker = child("pod-worker", worker_name(*event.object));
      if (!worker)
        worker = spawn({.kind = "pod-worker", .name = worker_name(*event.object)},
                       [key, uid, around = around_.get()] {
                         return std::make_unique<pod_worker>(key, uid, around);
                       });
    }
    tell(worker, own_change{.object = event.object, .at = event.at, .gone = gone});
  }
  if (m.synced && !std::exchange(orphans_taken_, true)) take_orphans();
}

void kubelet::on_child_ended(const runtime::child_ended& m) {
  for (auto it = workers_.begin(); it != workers_.end(); ++it)
    if (it->second == m.child) {
      workers_.erase(it);
      return;
    }
}

// Directories of pods that were removed while no node ran: a worker ends what is left of each.
void kubelet::take_orphans() {
  std::error_code problem;
  for (const auto& entry :
       std::filesystem::directory_iterator{options_.root_dir / "pods", problem}) {
    const auto uid = entry.path().filename().string();
    if (entry.path().extension() == ".deleting") {
      containers_->run([path = entry.path()] {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
      });
    } else if (!workers_.contains(uid)) {
      workers_[uid] =
          spawn({.kind = "pod-worker", .name = "orphan/" + uid}, [uid, around = around_.get()] {
            return std::make_unique<pod_worker>(std::string{}, uid, around);
          });
    }
  }
}

void kubelet::describe_node(Node& body) const {
  auto& labels = *body.mutable_metadata()->mutable_labels();
  labels["kubernetes.io/hostname"] = node();
  labels["kubernetes.io/os"] = "linux";
  labels["kubernetes.io/arch"] = "amd64";
  auto& status = *body.mutable_status();
  const auto memory_kib = ::sysconf(_SC_PHYS_PAGES) * (::sysconf(_SC_PAGESIZE) / 1024);
  for (auto* resources : {status.mutable_capacity(), status.mutable_allocatable()}) {
    (*resources)["cpu"].set_string(std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)));
    (*resources)["memory"].set_string(fmt::format("{}Ki", memory_kib));
    (*resources)["pods"].set_string(std::to_string(options_.max_pods));
  }
  auto& info = *status.mutable_node_info();
  utsname system{};
  ::uname(&system);
  info.set_machine_id(first_line("/etc/machine-id"));
  info.set_boot_id(first_line("/proc/sys/kernel/random/boot_id"));
  info.set_kernel_version(system.release);
  info.set_os_image(os_name());
  info.set_operating_system("linux");
  info.set_architecture("amd64");
  info.set_kubelet_version(options_.version);
  info.set_container_runtime_version("process://1");
  status.clear_addresses();
  for (const auto& [type, value] :
       {std::pair{"InternalIP", options_.address}, std::pair{"Hostname", node()}}) {
    auto& entry = *status.add_addresses();
    entry.set_type(type);
    entry.set_address(value);
  }
  auto& conditions = *status.mutable_conditions();
  set_condition(conditions, {"MemoryPressure", "False", "KubeletHasSufficientMemory", ""},
                wall_now());
  set_condition(conditions, {"DiskPressure", "False", "KubeletHasNoDiskPressure", ""}, wall_now());
  set_condition(conditions, {"PIDPressure", "False", "KubeletHasSufficientPID", ""}, wall_now());
  set_condition(conditions, {"Ready", "True", "KubeletReady", "kubelet is posting ready status"},
                wall_now());
}

}  // namespace troupe::actors

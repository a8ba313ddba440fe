#include "actors/kubelet/node/node_facts.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>

#include "actors/kubelet/security/process_identity.hpp"
#include "api/values/quantity.hpp"

namespace troupe::actors {

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
    if (line.starts_with(wanted))
      return line.substr(wanted.size(), line.size() - wanted.size() - 1);
  return "Linux";
}

}  // namespace

node_facts read_node_facts() {
  utsname system{};
  ::uname(&system);
  return {.machine_id = first_line("/etc/machine-id"),
          .boot_id = first_line("/proc/sys/kernel/random/boot_id"),
          .kernel = system.release,
          .os_image = os_name(),
          .cpus = ::sysconf(_SC_NPROCESSORS_ONLN),
          .memory_kib = ::sysconf(_SC_PHYS_PAGES) * (::sysconf(_SC_PAGESIZE) / 1024),
          .may_mount = held_rights().has("SYS_ADMIN"),
          .app_armor = held_rights().has_apparmor};
}

pods_limits limits_of_pods(const node_facts& facts, const reserved_resources& reserved) {
  return {std::max<std::int64_t>(facts.cpus * 1'000 - reserved.milli_cpu, 0),
          std::max<std::int64_t>(facts.memory_kib * 1'024 - reserved.memory_bytes, 0)};
}

void reserve(const reserved_resources& reserved, api::core::v1::NodeStatus& status) {
  auto& allocatable = *status.mutable_allocatable();
  allocatable = status.capacity();
  const auto has = [&](const char* resource) {
    const auto read = api::quantity::parse(allocatable[resource].string());
    return read ? *read : api::quantity{};
  };
  if (reserved.milli_cpu != 0) {
    const auto left = std::max<std::int64_t>(has("cpu").milli_value() - reserved.milli_cpu, 0);
    allocatable["cpu"].set_string(api::quantity::of_milli(left).str());
  }
  if (const auto kept = reserved.memory_bytes + reserved.eviction_memory_bytes; kept != 0) {
    const auto left = std::max<std::int64_t>(has("memory").value() - kept, 0);
    allocatable["memory"].set_string(
        api::quantity::of(left, api::quantity::notation::binary).str());
  }
  if (allocatable.contains("ephemeral-storage") && reserved.eviction_disk_percent != 0) {
    const auto all = has("ephemeral-storage").value();
    allocatable["ephemeral-storage"].set_string(
        std::to_string(all - all / 100 * reserved.eviction_disk_percent));
  }
}

void describe_machine(const node_facts& facts, int max_pods, api::core::v1::NodeStatus& status) {
  auto& capacity = *status.mutable_capacity();
  capacity["cpu"].set_string(std::to_string(facts.cpus));
  capacity["memory"].set_string(
      api::quantity::of(facts.memory_kib * 1024, api::quantity::notation::binary).str());
  // kubernetes: the size of the file system with the kubelet's root directory.
  if (facts.disk_bytes != 0)
    capacity["ephemeral-storage"].set_string(
        api::quantity::of(facts.disk_bytes, api::quantity::notation::binary).str());
  capacity["pods"].set_string(std::to_string(max_pods));
  *status.mutable_allocatable() = capacity;
  auto& info = *status.mutable_node_info();
  info.set_machine_id(facts.machine_id);
  info.set_boot_id(facts.boot_id);
  info.set_kernel_version(facts.kernel);
  info.set_os_image(facts.os_image);
  info.set_operating_system("linux");
  info.set_architecture("amd64");
}

}  // namespace troupe::actors

#include "actors/kubelet/security/capabilities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace troupe::actors {

namespace {

// Index is the number in linux/capability.h.
constexpr std::array<std::string_view, 41> names{"CHOWN",
                                                 "DAC_OVERRIDE",
                                                 "DAC_READ_SEARCH",
                                                 "FOWNER",
                                                 "FSETID",
                                                 "KILL",
                                                 "SETGID",
                                                 "SETUID",
                                                 "SETPCAP",
                                                 "LINUX_IMMUTABLE",
                                                 "NET_BIND_SERVICE",
                                                 "NET_BROADCAST",
                                                 "NET_ADMIN",
                                                 "NET_RAW",
                                                 "IPC_LOCK",
                                                 "IPC_OWNER",
                                                 "SYS_MODULE",
                                                 "SYS_RAWIO",
                                                 "SYS_CHROOT",
                                                 "SYS_PTRACE",
                                                 "SYS_PACCT",
                                                 "SYS_ADMIN",
                                                 "SYS_BOOT",
                                                 "SYS_NICE",
                                                 "SYS_RESOURCE",
                                                 "SYS_TIME",
                                                 "SYS_TTY_CONFIG",
                                                 "MKNOD",
                                                 "LEASE",
                                                 "AUDIT_WRITE",
                                                 "AUDIT_CONTROL",
                                                 "SETFCAP",
                                                 "MAC_OVERRIDE",
                                                 "MAC_ADMIN",
                                                 "SYSLOG",
                                                 "WAKE_ALARM",
                                                 "BLOCK_SUSPEND",
                                                 "AUDIT_READ",
                                                 "PERFMON",
                                                 "BPF",
                                                 "CHECKPOINT_RESTORE"};

constexpr std::string_view default_names[] = {
    "CHOWN",   "DAC_OVERRIDE", "FSETID",           "FOWNER",
    "MKNOD",   "NET_RAW",      "SETGID",           "SETUID",
    "SETFCAP", "SETPCAP",      "NET_BIND_SERVICE", "SYS_CHROOT",
    "KILL",    "AUDIT_WRITE"};

std::string plain(std::string_view name) {
  std::string upper{name};
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper.starts_with("CAP_") ? upper.substr(4) : upper;
}

}  // namespace

std::optional<int> capability_number(std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), plain(name));
  if (found == names.end()) return std::nullopt;
  return static_cast<int>(found - names.begin());
}

capability_set default_capabilities() {
  capability_set all = 0;
  for (const auto name : default_names)
    all |= capability_bit(*capability_number(name));
  return all;
}

tl::expected<capability_set, std::string> container_capabilities(
    const api::core::v1::Capabilities& asked, capability_set available) {
  const auto has_all = [](const auto& list) {
    return std::any_of(list.begin(), list.end(), [](const auto& n) { return plain(n) == "ALL"; });
  };
  capability_set result = has_all(asked.drop())  ? 0
                          : has_all(asked.add()) ? available
                                                 : default_capabilities() & available;
  for (const auto& name : asked.add()) {
    if (plain(name) == "ALL") continue;
    const auto number = capability_number(name);
    if (!number) return tl::make_unexpected(fmt::format("unknown capability \"{}\" to add", name));
    if ((available & capability_bit(*number)) == 0)
      return tl::make_unexpected(
          fmt::format("capability \"{}\" cannot be added: the node does not have it itself", name));
    result |= capability_bit(*number);
  }
  for (const auto& name : asked.drop()) {
    if (plain(name) == "ALL") continue;
    const auto number = capability_number(name);
    if (!number) return tl::make_unexpected(fmt::format("unknown capability \"{}\" to drop", name));
    result &= ~capability_bit(*number);
  }
  return result;
}

}  // namespace troupe::actors

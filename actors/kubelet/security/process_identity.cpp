#include "actors/kubelet/security/process_identity.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

namespace troupe::actors {

namespace {

using void_result = tl::expected<void, std::string>;

void_result failed(const char* action) {
  return tl::make_unexpected(fmt::format("cannot {}: {}", action, std::strerror(errno)));
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields{""};
  for (const char c : line)
    if (c == ':')
      fields.emplace_back();
    else
      fields.back() += c;
  return fields;
}

struct account {
  std::string name, home = "/";
  std::uint32_t group = 0;
};

account account_of(std::uint32_t user) {
  account found;
  std::ifstream file{"/etc/passwd"};
  for (std::string line; std::getline(file, line);) {
    const auto fields = fields_of(line);
    if (fields.size() < 7 || fields[2] != std::to_string(user)) continue;
    found.name = fields[0];
    found.group = static_cast<std::uint32_t>(std::strtoul(fields[3].c_str(), nullptr, 10));
    if (!fields[5].empty()) found.home = fields[5];
    break;
  }
  return found;
}

std::vector<std::uint32_t> groups_of(const std::string& user) {
  std::vector<std::uint32_t> groups;
  if (user.empty()) return groups;
  std::ifstream file{"/etc/group"};
  for (std::string line; std::getline(file, line);) {
    const auto fields = fields_of(line);
    if (fields.size() < 4 || ("," + fields[3] + ",").find("," + user + ",") == std::string::npos)
      continue;
    groups.push_back(static_cast<std::uint32_t>(std::strtoul(fields[2].c_str(), nullptr, 10)));
  }
  return groups;
}

capability_set read_set(std::string_view name) {
  std::ifstream file{"/proc/self/status"};
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name)) return std::strtoull(line.c_str() + name.size(), nullptr, 16);
  return 0;
}

bool drop_from_bounding(capability_set keep) {
  for (int number = 0; ::prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0; ++number)
    if ((keep & capability_bit(number)) == 0 && ::prctl(PR_CAPBSET_READ, number, 0, 0, 0) == 1 &&
        ::prctl(PR_CAPBSET_DROP, number, 0, 0, 0) != 0)
      return false;
  return true;
}

bool hold(capability_set set) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  for (int half = 0; half < 2; ++half) {
    const auto bits = static_cast<std::uint32_t>(set >> (32 * half));
    data[half].effective = data[half].permitted = bits;
  }
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  return ::syscall(SYS_capset, &header, data) == 0;
}

bool write_file(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int code = errno;
  ::close(fd);
  errno = code;
  return done;
}

// Opening /dev/stdout reopens the pipe or terminal, with its owner's permissions.
void give_streams(std::uint32_t user) {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    struct stat info {};
    if (::fstat(fd, &info) == 0 && (S_ISFIFO(info.st_mode) || ::isatty(fd)))
      static_cast<void>(!::fchown(fd, user, static_cast<gid_t>(-1)));
  }
}

// Tries everything that a container needs, in a child process that exits at once.
bool user_namespaces_work(std::uint32_t user, std::uint32_t group) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool works = ::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) == 0 &&
                       map_own_user(user, group) &&
                       ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0 &&
                       ::mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "size=4k") == 0;
    ::_exit(works ? 0 : 1);
  }
  int status = 1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && status == 0;
}

}  // namespace

void_result map_own_user(std::uint32_t user, std::uint32_t group) {
  if (!write_file("/proc/self/setgroups", "deny") ||
      !write_file("/proc/self/uid_map", fmt::format("{} {} 1\n", user, user)) ||
      !write_file("/proc/self/gid_map", fmt::format("{} {} 1\n", group, group)))
    return failed("set up a user namespace");
  return {};
}

machine_rights held_rights() {
  machine_rights rights;
  rights.user = ::geteuid();
  rights.group = ::getegid();
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  if (!groups.empty()) ::getgroups(static_cast<int>(groups.size()), groups.data());
  rights.groups.assign(groups.begin(), groups.end());
  rights.capabilities = read_set("CapEff:") & read_set("CapBnd:");
  rights.has_apparmor = ::access("/sys/kernel/security/apparmor", F_OK) == 0;
  return rights;
}

machine_rights read_rights() {
  auto rights = held_rights();
  if (rights.has("SYS_ADMIN"))
    rights.confined_by = confinement::namespaces;
  else if (rights.user != 0 && user_namespaces_work(rights.user, rights.group))
    rights.confined_by = confinement::user_namespace;
  return rights;
}

process_security unrestricted() {
  const auto held = read_set("CapEff:");
  const bool may_mount = (held & capability_bit(CAP_SYS_ADMIN)) != 0;
  return {.confined_by = may_mount ? confinement::namespaces : confinement::none,
          .capabilities = held,
          .privileged = true};
}

tl::expected<process_identity, std::string> identity_of(const process_security& security) {
  process_identity identity;
  identity.user = security.user;
  identity.group = security.group;
  const auto user = security.user.value_or(::geteuid());
  const auto entry = account_of(user);
  identity.home = entry.home;
  const bool may_change = (read_set("CapEff:") & capability_bit(CAP_SETGID)) != 0;
  if (may_change && security.confined_by != confinement::user_namespace) {
    if (security.user && !security.group) identity.group = entry.group;
    auto groups = security.groups;
    if (security.merge_groups)
      for (const auto each : groups_of(entry.name))
        groups.push_back(each);
    groups.push_back(identity.group.value_or(::getegid()));
    std::sort(groups.begin(), groups.end());
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    identity.groups = std::move(groups);
  }
  if (security.seccomp == seccomp_kind::unconfined) return identity;
  auto filter = security.seccomp == seccomp_kind::profile
                    ? seccomp_filter::of_profile(security.seccomp_profile)
                    : seccomp_filter::runtime_default(security.capabilities);
  if (!filter) return tl::make_unexpected(filter.error());
  identity.filter = std::move(*filter);
  return identity;
}

void_result take_identity(const process_identity& identity, const process_security& security) {
  if (identity.groups) {
    const std::vector<gid_t> groups{identity.groups->begin(), identity.groups->end()};
    if (::setgroups(groups.size(), groups.data()) != 0) return failed("set the groups");
  }
  if (identity.group && ::setresgid(*identity.group, *identity.group, *identity.group) != 0)
    return failed("set the group");
  const auto held = read_set("CapEff:");
  const bool filter_late =
      security.no_new_privileges || (held & capability_bit(CAP_SYS_ADMIN)) == 0;
  if (identity.filter && !filter_late)
    if (auto loaded = identity.filter->load(); !loaded) return loaded;
  if ((held & capability_bit(CAP_SETPCAP)) != 0 && !drop_from_bounding(security.capabilities))
    return failed("drop capabilities");
  if (identity.user) give_streams(*identity.user);
  if (identity.user && ::setresuid(*identity.user, *identity.user, *identity.user) != 0)
    return failed("set the user");
  const auto own = ::geteuid() == 0 ? security.capabilities : 0;
  if (!hold(own & read_set("CapPrm:"))) return failed("set the capabilities");
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // changing the user has reset it
  if ((security.no_new_privileges || (identity.filter && filter_late)) &&
      ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return failed("set no_new_privs");
  ::close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
  if (identity.filter && filter_late) return identity.filter->load();
  return {};
}

void add_home(std::vector<std::string>& environment, const process_identity& identity) {
  const bool has = std::any_of(environment.begin(), environment.end(),
                               [](const auto& each) { return each.starts_with("HOME="); });
  if (!has && !identity.home.empty()) environment.push_back("HOME=" + identity.home);
}

}  // namespace troupe::actors

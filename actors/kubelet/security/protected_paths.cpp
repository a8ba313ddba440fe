#include "actors/kubelet/security/protected_paths.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/os/mount_table.hpp"
#include "actors/kubelet/os/safe_files.hpp"

namespace troupe::actors {

namespace fs = std::filesystem;

tl::expected<void, std::string> check_not_protected(const std::string& path,
                                                    const std::vector<std::string>& hidden) {
  std::error_code problem;
  const auto leads_to = fs::weakly_canonical(path, problem).string();
  for (const auto& each : hidden) {
    const auto real = fs::weakly_canonical(each, problem).string();
    if (leads_to != real && !is_beneath(leads_to, real)) continue;
    return tl::make_unexpected(
        fmt::format("{} lies in the node's own data, which no pod may reach", path));
  }
  return {};
}

tl::expected<std::string, std::string> read_seccomp_profile(const fs::path& root_dir,
                                                            const std::string& name) {
  auto file = open_directory(root_dir / "seccomp");
  if (file) file = open_beneath(*file, name, O_RDONLY, 0, true);
  if (!file)
    return tl::make_unexpected(fmt::format("cannot load seccomp profile \"{}\": {}",
                                           (root_dir / "seccomp" / name).string(), file.error()));
  std::string text(kubelet_defaults::seccomp_profile_bytes + 1, '\0');
  std::size_t size = 0;
  for (ssize_t n = 1; n > 0 && size < text.size(); size += static_cast<std::size_t>(n)) {
    n = ::read(file->get(), text.data() + size, text.size() - size);
    if (n < 0)
      return tl::make_unexpected(
          fmt::format("cannot read seccomp profile \"{}\": {}", name, std::strerror(errno)));
  }
  if (size == text.size())
    return tl::make_unexpected(fmt::format("seccomp profile \"{}\" is larger than {} bytes", name,
                                           kubelet_defaults::seccomp_profile_bytes));
  text.resize(size);
  return text;
}

}  // namespace troupe::actors

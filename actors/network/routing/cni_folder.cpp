#include "actors/network/routing/cni_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "actors/network/defaults.hpp"
#include "actors/network/routing/cni_config.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors::routing {
namespace fs = std::filesystem;
namespace {

std::string read(const fs::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

tl::expected<void, std::string> write(const fs::path& file, const std::string& content) {
  const auto failed = [&] {
    return tl::make_unexpected(
        fmt::format("{} cannot be written: {}", file.string(), std::strerror(errno)));
  };
  // Written in place by one call: containerd 1.6 does not notice renamed files.
  const runtime::unique_fd fd{
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644)};
  if (!fd) return failed();
  if (::write(fd.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()) ||
      ::fsync(fd.get()) != 0)
    return failed();
  return {};
}

}  // namespace

std::optional<fs::path> foreign_network(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& each : fs::directory_iterator{folder, ignored})
    names.push_back(each.path().filename().string());
  for (const auto& name : cni_files(std::move(names)))
    if (name != network_defaults::cni_file) return folder / name;
  return std::nullopt;
}

tl::expected<void, std::string> write_cni_file(const fs::path& folder, const std::string& content,
                                               const fs::path& marker) {
  const auto file = folder / network_defaults::cni_file;
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (read(marker) != file.string())
    if (auto written = write(marker, file.string()); !written) return written;
  if (read(file) == content) return {};
  return write(file, content);
}

tl::expected<void, std::string> remove_cni_file(const fs::path& marker) {
  const fs::path file = read(marker);
  std::error_code problem;
  if (file.filename() == network_defaults::cni_file) fs::remove(file, problem);
  if (problem)
    return tl::make_unexpected(
        fmt::format("{} cannot be removed: {}", file.string(), problem.message()));
  fs::remove(marker, problem);
  return {};
}

}  // namespace troupe::actors::routing

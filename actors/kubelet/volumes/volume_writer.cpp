#include "actors/kubelet/volumes/volume_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <set>

#include "actors/kubelet/os/safe_files.hpp"

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;
using void_result = tl::expected<void, std::string>;

constexpr const char* data_link = "..data";
constexpr const char* next_link = "..data_tmp";

void_result failed(const char* action, const std::string& path) {
  return tl::make_unexpected(fmt::format("cannot {} {}: {}", action, path, std::strerror(errno)));
}

// Returns an empty text if it is not a link.
std::string link_at(const runtime::unique_fd& directory, const std::string& name) {
  std::array<char, 4096> target;
  const auto n = ::readlinkat(directory.get(), name.c_str(), target.data(), target.size());
  return n > 0 ? std::string{target.data(), static_cast<std::size_t>(n)} : std::string{};
}

void_result write_file(const runtime::unique_fd& into, const volume_file& file) {
  const fs::path path{file.path};
  const auto parent = make_beneath(into, path.parent_path(), 0755);
  if (!parent) return tl::make_unexpected(parent.error());
  const auto fd =
      open_beneath(*parent, path.filename(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (!fd) return tl::make_unexpected(fd.error());
  for (std::size_t done = 0; done < file.content.size();) {
    const auto n = ::write(fd->get(), file.content.data() + done, file.content.size() - done);
    if (n <= 0) return failed("write", file.path);
    done += static_cast<std::size_t>(n);
  }
  if (file.owner && ::fchown(fd->get(), *file.owner, static_cast<gid_t>(-1)) != 0)
    return failed("give to its user", file.path);
  if (::fchmod(fd->get(), static_cast<mode_t>(file.mode)) != 0) return failed("chmod", file.path);
  return {};
}

void_result write_all(const fs::path& volume, const runtime::unique_fd& directory,
                      const std::string& name, const std::vector<volume_file>& files) {
  if (!remove_tree(volume / name)) return failed("remove", name);  // left by an interrupted write
  const auto into = make_beneath(directory, name, 0755);
  if (!into) return tl::make_unexpected(into.error());
  for (const auto& file : files)
    if (auto written = write_file(*into, file); !written) return written;
  return {};
}

// Creates the top-level links of all paths, and removes obsolete links and old directories.
void tidy(const fs::path& volume, const runtime::unique_fd& directory, const std::string& newest,
          const std::vector<volume_file>& files) {
  std::set<std::string> wanted;
  for (const auto& file : files)
    wanted.insert(file.path.substr(0, file.path.find('/')));
  for (const auto& name : wanted) {
    const auto target = std::string{data_link} + "/" + name;
    if (link_at(directory, name) == target) continue;
    remove_tree(volume / name);
    static_cast<void>(::symlinkat(target.c_str(), directory.get(), name.c_str()));
  }
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator{volume, problem}) {
    const auto name = entry.path().filename().string();
    const bool ours = link_at(directory, name) == std::string{data_link} + "/" + name;
    if (ours && !wanted.contains(name)) ::unlinkat(directory.get(), name.c_str(), 0);
    if (name.starts_with("..") && name != data_link && name != newest) remove_tree(entry.path());
  }
}

}  // namespace

void_result write_volume(const fs::path& volume, const std::vector<volume_file>& files) {
  const auto directory = open_directory(volume);
  if (!directory) return tl::make_unexpected(directory.error());
  const auto newest = ".." + digest_of(files);
  const bool there = link_at(*directory, data_link) == newest &&
                     open_beneath(*directory, newest, O_RDONLY | O_DIRECTORY);
  if (there) {
    tidy(volume, *directory, newest, files);
    return {};
  }
  if (auto written = write_all(volume, *directory, newest, files); !written) return written;
  ::unlinkat(directory->get(), next_link, 0);
  if (::symlinkat(newest.c_str(), directory->get(), next_link) != 0)
    return failed("link", next_link);
  if (::renameat(directory->get(), next_link, directory->get(), data_link) != 0)
    return failed("replace", data_link);
  tidy(volume, *directory, newest, files);
  return {};
}

}  // namespace troupe::actors

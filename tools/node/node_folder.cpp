#include "tools/node/node_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>

#include "server/credentials/private_file.hpp"

namespace troupe::tools {

namespace {

constexpr mode_t file_mode = 0600;
constexpr const char *root_dir_file = "root-dir", *default_root_dir = "kubelet";

std::string error_text() {
  return std::generic_category().message(errno);
}

// The process id that the lock's owner wrote into it.
std::optional<int> owner(int lock) {
  std::array<char, 32> text{};
  const auto size = ::pread(lock, text.data(), text.size(), 0);
  int id = 0;
  const bool written =
      size > 0 && std::from_chars(text.data(), text.data() + size, id).ec == std::errc{};
  return written && id > 1 ? std::optional{id} : std::nullopt;
}

std::string in_use(int lock) {
  const auto process = owner(lock);
  return "in use by another node" + (process ? fmt::format(" (process {})", *process) : "");
}

}  // namespace

struct node_folder::role {
  const char *name, *flag, *lock;
  mode_t mode;

  tl::unexpected<std::string> refusal(const std::filesystem::path& folder,
                                      const std::string& reason) const {
    return tl::make_unexpected(
        fmt::format("{} {}: {}; name another with {}", name, folder.string(), reason, flag));
  }
};

node_folder::lock_result node_folder::lock_data_dir(const std::filesystem::path& folder,
                                                    const char* flag) {
  return take(folder, {"data dir", flag, "node.lock", 0700});
}

node_folder::lock_result node_folder::lock_root_dir(const std::filesystem::path& folder) {
  return take(folder, {"root dir", "--root-dir", "kubelet.lock", 0750});
}

node_folder::lock_result node_folder::take(const std::filesystem::path& folder, const role& as) {
  std::error_code failure;
  const auto parent = std::filesystem::absolute(folder).lexically_normal().parent_path();
  std::filesystem::create_directories(parent, failure);
  if (!failure && ::mkdir(folder.c_str(), as.mode) != 0 && errno != EEXIST)
    failure = {errno, std::generic_category()};
  if (failure) return as.refusal(folder, "cannot be made: " + failure.message());
  if (!std::filesystem::is_directory(folder, failure)) return as.refusal(folder, "is not a folder");
  const int lock = ::open((folder / as.lock).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, file_mode);
  if (lock < 0) return as.refusal(folder, "cannot be written to: " + error_text());
  node_folder result(lock);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0)
    return as.refusal(folder,
                      errno == EWOULDBLOCK ? in_use(lock) : "cannot be locked: " + error_text());
  const auto id = std::to_string(::getpid());
  if (::ftruncate(lock, 0) != 0 || ::pwrite(lock, id.data(), id.size(), 0) < 0)
    return as.refusal(folder, "cannot be written to: " + error_text());
  return result;
}

std::optional<int> node_folder::holder(const std::filesystem::path& data_dir) {
  const int lock = ::open((data_dir / "node.lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (lock < 0) return std::nullopt;
  const runtime::unique_fd closes{lock};
  if (::flock(lock, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::nullopt;
  return owner(lock);
}

// -- the root dir ---------------------------------------------------------------------------------

tl::expected<void, std::string> save_root_dir(const std::filesystem::path& data_dir,
                                              const std::filesystem::path& root_dir) {
  const auto file = data_dir / root_dir_file;
  std::error_code ignored;
  if (root_dir == data_dir / default_root_dir) {
    std::filesystem::remove(file, ignored);
    return {};
  }
  const auto text = std::filesystem::absolute(root_dir).string();
  const auto kept = server::read_private_file(file);
  if (kept && *kept == text) return {};
  return server::write_private_file(file, text);
}

std::filesystem::path saved_root_dir(const std::filesystem::path& data_dir) {
  const auto text = server::read_private_file(data_dir / root_dir_file);
  if (!text || !*text || (*text)->empty()) return data_dir / default_root_dir;
  return **text;
}

}  // namespace troupe::tools

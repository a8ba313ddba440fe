#include "tools/data_dir.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

namespace troupe::tools {

namespace {

constexpr mode_t folder_mode = 0700;
constexpr mode_t file_mode = 0600;

tl::unexpected<std::string> refusal(const std::filesystem::path& folder, const std::string& why) {
  return tl::make_unexpected(
      fmt::format("data dir {}: {}; name another with --data-dir", folder.string(), why));
}

std::string error_text() {
  return std::generic_category().message(errno);
}

tl::expected<void, std::string> make(const std::filesystem::path& folder) {
  std::error_code failure;
  const auto parent = std::filesystem::absolute(folder).lexically_normal().parent_path();
  std::filesystem::create_directories(parent, failure);
  if (!failure && ::mkdir(folder.c_str(), folder_mode) != 0 && errno != EEXIST) {
    failure = {errno, std::generic_category()};
  }
  if (failure) return refusal(folder, "cannot be made: " + failure.message());
  if (!std::filesystem::is_directory(folder, failure)) return refusal(folder, "is not a folder");
  return {};
}

// Who has the lock, as its owner wrote it.
std::string owner(int lock) {
  std::array<char, 32> text{};
  const auto size = ::pread(lock, text.data(), text.size() - 1, 0);
  return size > 0 ? fmt::format(" (process {})", std::string(text.data())) : "";
}

}  // namespace

tl::expected<data_dir, std::string> data_dir::take(const std::filesystem::path& folder) {
  if (auto made = make(folder); !made) return tl::make_unexpected(made.error());
  const auto file = folder / "node.lock";
  const int lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, file_mode);
  if (lock < 0) return refusal(folder, "cannot be written to: " + error_text());
  data_dir result(lock);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return refusal(folder, errno == EWOULDBLOCK ? "in use by another node" + owner(lock)
                                                : "cannot be locked: " + error_text());
  }
  const auto id = std::to_string(::getpid());
  if (::ftruncate(lock, 0) != 0 || ::pwrite(lock, id.data(), id.size(), 0) < 0) {
    return refusal(folder, "cannot be written to: " + error_text());
  }
  return result;
}

std::optional<int> data_dir::holder(const std::filesystem::path& folder) {
  const int lock = ::open((folder / "node.lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (lock < 0) return std::nullopt;
  const data_dir closes(lock);
  if (::flock(lock, LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::nullopt;
  std::array<char, 32> text{};
  const auto size = ::pread(lock, text.data(), text.size() - 1, 0);
  int id = 0;
  if (size <= 0 || std::from_chars(text.data(), text.data() + size, id).ec != std::errc{} ||
      id <= 1)
    return std::nullopt;
  return id;
}

data_dir::data_dir(data_dir&& other) noexcept : lock_(std::exchange(other.lock_, -1)) {}

data_dir::~data_dir() {
  if (lock_ >= 0) ::close(lock_);
}

}  // namespace troupe::tools

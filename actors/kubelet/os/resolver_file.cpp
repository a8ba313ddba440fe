#include "actors/kubelet/os/resolver_file.hpp"

#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "actors/kubelet/defaults.hpp"

namespace troupe::actors {
namespace {

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

bool has_outer_server(const std::string& text) {
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words{line};
    std::string key, server;
    if (words >> key >> server && key == "nameserver" && !server.starts_with("127.") &&
        server != "::1")
      return true;
  }
  return false;
}

// Zeros: there is no such file.
struct ::stat state_of(const std::filesystem::path& path) {
  struct ::stat out {};
  if (::stat(path.c_str(), &out) != 0) out = {};
  return out;
}

bool same(const struct ::stat& a, const struct ::stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

}  // namespace

resolver_file::resolver_file(std::filesystem::path file, std::filesystem::path of_resolved)
    : file_{std::move(file)}, of_resolved_{std::move(of_resolved)} {}

std::string resolver_file::text(clock::time_point now) {
  const std::lock_guard lock{mutex_};
  if (checked_ && now - *checked_ < kubelet_defaults::resolver_check) return text_;
  // Before reading: a later change is then seen by the next check.
  const state_of_files state{state_of(file_), state_of(of_resolved_)};
  const bool first = !std::exchange(checked_, now);
  if (!first && same(state[0], state_[0]) && same(state[1], state_[1])) return text_;
  state_ = state;
  text_ = text_of_file(file_);
  if (has_outer_server(text_)) return text_;
  if (auto other = text_of_file(of_resolved_); has_outer_server(other)) text_ = std::move(other);
  return text_;
}

}  // namespace troupe::actors

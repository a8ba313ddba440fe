#include "actors/kubelet/runtimes/cri/log_rotation.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

namespace troupe::actors {

namespace {

namespace fs = std::filesystem;

// Returns false if the copy is incomplete: then `to` does not exist.
bool compress(const std::string& from, const std::string& to) {
  const auto part_of = to + ".tmp";
  std::error_code problem;
  {
    std::ifstream in{from, std::ios::binary};
    const std::unique_ptr<gzFile_s, decltype(&::gzclose)> out{::gzopen(part_of.c_str(), "wb"),
                                                              &::gzclose};
    bool whole = in.is_open() && out;
    for (std::array<char, 64 << 10> part; whole && in;) {
      in.read(part.data(), static_cast<std::streamsize>(part.size()));
      const auto size = static_cast<unsigned>(in.gcount());
      whole = !in.bad() &&
              (size == 0 || ::gzwrite(out.get(), part.data(), size) == static_cast<int>(size));
    }
    if (!whole || ::gzflush(out.get(), Z_FINISH) != Z_OK) {
      fs::remove(part_of, problem);
      return false;
    }
  }
  fs::rename(part_of, to, problem);
  return !problem;
}

std::string numbered(const std::string& path, int number, const char* end = "") {
  return fmt::format("{}.{}{}", path, number, end);
}

}  // namespace

bool rotate_log(const std::string& path, const log_limits& limits) {
  std::error_code problem;
  const auto size = fs::file_size(path, problem);
  // The program was killed after it had renamed the log.
  if (problem == std::errc::no_such_file_or_directory)
    return fs::exists(numbered(path, 1), problem);
  if (problem || size <= limits.file_bytes) return false;
  for (int number = limits.files - 2; number > 1; --number)
    fs::rename(numbered(path, number, ".gz"), numbered(path, number + 1, ".gz"), problem);
  const auto former = numbered(path, 1);
  // If the disk has no room for both, delete the former log: the current one matters more.
  if (limits.files > 2 && fs::exists(former, problem) &&
      !compress(former, numbered(path, 2, ".gz")))
    fs::remove(former, problem);
  fs::rename(path, former, problem);
  return !problem;
}

void undo_rotation(const std::string& path) {
  std::error_code problem;
  if (!fs::exists(path, problem)) fs::rename(path + ".1", path, problem);
}

}  // namespace troupe::actors

#include "actors/kubelet/logs/log_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "actors/defaults.hpp"

namespace troupe::actors {

// A pod that can write there may replace its log by a link or a pipe: neither is followed.
bool log_reader::open() {
  fd_ = runtime::unique_fd{::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
  struct stat info {};
  if (!fd_ || ::fstat(fd_.get(), &info) != 0) return false;
  if (!S_ISREG(info.st_mode)) {
    fd_.reset();
    return false;
  }
  inode_ = info.st_ino;
  return true;
}

bool log_reader::missing() const {
  return inode_ == 0 && ::access(path_.c_str(), F_OK) != 0;
}

// Reads backwards in parts until it has passed enough line ends.
void log_reader::skip_to_tail() {
  const auto wanted = std::max<std::int64_t>(*query_.tail_lines, 0);
  auto at = ::lseek(fd_.get(), 0, SEEK_END);
  std::int64_t seen = 0;
  std::vector<char> part(defaults::log_part_bytes);
  while (at > 0) {
    const auto size = std::min<off_t>(at, static_cast<off_t>(part.size()));
    at -= size;
    const auto n = ::pread(fd_.get(), part.data(), static_cast<std::size_t>(size), at);
    for (auto i = n - 1; i >= 0; --i) {
      if (part[static_cast<std::size_t>(i)] != '\n') continue;
      // The end of the last line does not start another line.
      if (seen++ < wanted) continue;
      ::lseek(fd_.get(), at + i + 1, SEEK_SET);
      return;
    }
  }
  ::lseek(fd_.get(), 0, wanted == 0 ? SEEK_END : SEEK_SET);
}

namespace {

// Nine digits for the fraction: a runtime may omit zeros, and times are compared as text.
std::string full_time(std::string_view time) {
  constexpr std::size_t seconds_end = 19, full = 29;  // 2026-01-02T03:04:05.123456789
  std::string out{time};
  if (!time.ends_with('Z') || time.size() <= seconds_end || time.size() > full) return out;
  out.pop_back();
  if (out.size() == seconds_end) out += '.';
  out.resize(full, '0');
  return out + 'Z';
}

}  // namespace

// Appends the text of "<time> <stream> <F|P> <text>", with a line end unless it is partial.
void log_reader::take_line(std::string_view line, std::string& out) {
  const auto time_end = line.find(' ');
  const auto stream_end = line.find(' ', time_end == line.npos ? time_end : time_end + 1);
  if (stream_end == line.npos || stream_end + 2 > line.size()) return;  // not a log line: skipped
  const auto time = full_time(line.substr(0, time_end));
  if (!query_.since.empty() && time < query_.since) return;
  if (query_.timestamps) out.append(time).append(" ");
  const bool complete = line[stream_end + 1] == 'F';
  if (line.size() > stream_end + 3) out.append(line.substr(stream_end + 3));
  if (complete) out += '\n';
}

std::string log_reader::next() {
  if (exhausted()) return {};
  if (!fd_) {
    const bool first = inode_ == 0;
    if (!open()) return {};
    if (first && query_.tail_lines) skip_to_tail();
  }
  std::vector<char> part(defaults::log_part_bytes);
  const auto n = ::read(fd_.get(), part.data(), part.size());
  if (n <= 0) {
    // End of this file for good if its name belonged to another file before the previous read. The
    // writer creates the new file first and may have written to the old one after that read.
    struct stat info {};
    const bool replaced = ::stat(path_.c_str(), &info) == 0 && info.st_ino != inode_;
    if (std::exchange(replaced_, replaced) && replaced) {
      fd_.reset();
      replaced_ = false;
    }
    return {};
  }
  partial_.append(part.data(), static_cast<std::size_t>(n));
  std::string out;
  std::size_t begin = 0;
  for (std::size_t end; (end = partial_.find('\n', begin)) != partial_.npos; begin = end + 1)
    take_line(std::string_view{partial_}.substr(begin, end - begin), out);
  partial_.erase(0, begin);
  if (query_.limit_bytes)
    out.resize(std::min<std::size_t>(out.size(), static_cast<std::size_t>(std::max<std::int64_t>(
                                                     *query_.limit_bytes - returned_bytes_, 0))));
  returned_bytes_ += static_cast<std::int64_t>(out.size());
  return out;
}

}  // namespace troupe::actors

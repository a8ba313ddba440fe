#include "actors/kubelet/logs/log_writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>

#include "actors/kubelet/defaults.hpp"

namespace troupe::actors {

namespace {

std::string timestamp() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  gmtime_r(&now.tv_sec, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     now.tv_nsec);
}

runtime::unique_fd open_log(const std::string& path) {
  return runtime::unique_fd{::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640)};
}

}  // namespace

log_writer::log_writer(std::string path, const log_limits& limits)
    : path_{std::move(path)}, limits_{limits}, fd_{open_log(path_)} {
  struct stat info {};
  if (fd_ && ::fstat(fd_.get(), &info) == 0) size_ = static_cast<std::size_t>(info.st_size);
}

std::string& log_writer::pending(std::string_view stream) {
  return stream == "stderr" ? pending_err_ : pending_out_;
}

void log_writer::take(std::string_view stream, std::string_view bytes) {
  auto& rest = pending(stream);
  for (std::size_t end; (end = bytes.find('\n')) != std::string_view::npos;) {
    rest.append(bytes.substr(0, end));
    write_line(stream, 'F', rest);
    rest.clear();
    bytes.remove_prefix(end + 1);
  }
  rest.append(bytes);
  while (rest.size() >= kubelet_defaults::log_line_bytes) {
    write_line(stream, 'P', std::string_view{rest}.substr(0, kubelet_defaults::log_line_bytes));
    rest.erase(0, kubelet_defaults::log_line_bytes);
  }
}

void log_writer::finish(std::string_view stream) {
  auto& rest = pending(stream);
  if (!rest.empty()) write_line(stream, 'F', rest);
  rest.clear();
}

void log_writer::write_line(std::string_view stream, char tag, std::string_view text) {
  if (size_ >= limits_.file_bytes) rotate();
  if (!fd_) return;
  const auto line = fmt::format("{} {} {} {}\n", timestamp(), stream, tag, text);
  const auto written = ::write(fd_.get(), line.data(), line.size());
  if (written <= 0) return;
  size_ += static_cast<std::size_t>(written);
  written_ += written;
}

void log_writer::rotate() {
  fd_.reset();
  for (int i = limits_.files - 1; i >= 1; --i) {
    const auto from = i == 1 ? path_ : fmt::format("{}.{}", path_, i - 1);
    std::rename(from.c_str(), fmt::format("{}.{}", path_, i).c_str());
  }
  fd_ = open_log(path_);
  size_ = 0;
}

}  // namespace troupe::actors

// Writes a container's output to disk in CRI's log format, one entry per line:
//
//   2006-01-02T15:04:05.000000000Z stdout F text
//
// (P instead of F for a part of an incomplete line). When the file reaches
// its limit it is renamed to NAME.1, NAME.1 to NAME.2 and so on; the oldest is deleted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "actors/kubelet/logs/log_limits.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {

class log_writer {
 public:
  explicit log_writer(std::string path, const log_limits& limits = {});

  // Appends output of one stream; `stream` is "stdout" or "stderr". Bytes that cannot be written (a
  // full disk) are dropped: the container keeps running.
  void take(std::string_view stream, std::string_view bytes);
  // The stream has ended: writes a last line that has no line end.
  void finish(std::string_view stream);

  // Bytes written by this object so far, including files that are deleted already.
  std::int64_t written() const noexcept { return written_; }

 private:
  void write_line(std::string_view stream, char tag, std::string_view text);
  void rotate();
  std::string& pending(std::string_view stream);

  std::string path_;
  const log_limits limits_;
  runtime::unique_fd fd_;
  std::size_t size_ = 0;
  std::int64_t written_ = 0;
  std::string pending_out_, pending_err_;
};

}  // namespace troupe::actors

// A container's log as `kubectl logs` wants it, read part by part from the files that the shim
// writes (log_writer.hpp). Blocks on disk: not for actors' threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "actors/kubelet/runtime/streams.hpp"

namespace troupe::actors {

class log_reader {
 public:
  log_reader(std::string path, log_query query) : path_{std::move(path)}, query_{query} {}

  // What is new since the last call, at most `defaults::log_part_bytes`; empty when there
  // is nothing (yet). The first call honours tail_lines. Follows the log over its rotation.
  std::string next();
  // Nothing was read yet, and there is nothing to read.
  bool missing() const;
  // True when limit_bytes have been given.
  bool exhausted() const noexcept {
    return query_.limit_bytes && returned_bytes_ >= *query_.limit_bytes;
  }

 private:
  bool open();
  void skip_to_tail();
  void take_line(std::string_view line, std::string& out);

  const std::string path_;
  const log_query query_;
  int fd_ = -1;
  std::uint64_t inode_ = 0;
  bool replaced_ = false;  // another file has taken the name of the open one
  std::int64_t returned_bytes_ = 0;
  std::string partial_;  // of a line that is not complete in the file

 public:
  ~log_reader();
  log_reader(const log_reader&) = delete;
  log_reader& operator=(const log_reader&) = delete;
};

}  // namespace troupe::actors

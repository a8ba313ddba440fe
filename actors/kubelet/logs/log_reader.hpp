// Reads a container's log for `kubectl logs`, part by part, from the files that the shim writes
// (log_writer.hpp). Blocks on disk: not for actor threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "actors/kubelet/runtime/streams.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::actors {

class log_reader {
 public:
  log_reader(std::string path, log_query query) : path_{std::move(path)}, query_{query} {}

  // Returns new text since the last call, at most `defaults::log_part_bytes`; empty if there is
  // none (yet). The first call applies tail_lines. Follows the log over its rotation.
  std::string next();
  // Nothing was read yet, and the file does not exist.
  bool missing() const;
  // Whether limit_bytes have been returned.
  bool exhausted() const noexcept {
    return query_.limit_bytes && returned_bytes_ >= *query_.limit_bytes;
  }

 private:
  bool open();
  void skip_to_tail();
  void take_line(std::string_view line, std::string& out);

  const std::string path_;
  const log_query query_;
  runtime::unique_fd fd_;
  std::uint64_t inode_ = 0;
  bool replaced_ = false;  // the open file was renamed and replaced
  std::int64_t returned_bytes_ = 0;
  std::string partial_;  // incomplete last line of the file
};

}  // namespace troupe::actors

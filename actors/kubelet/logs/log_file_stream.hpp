// A stream of a container's log file in CRI format, read on a thread pool for disk work.
#pragma once

#include <memory>
#include <string>

#include "actors/kubelet/logs/log_reader.hpp"
#include "actors/kubelet/os/lazy_pool.hpp"

namespace troupe::actors {

class log_file_stream final : public log_stream {
 public:
  // `file`: the log of the attempt; its rotated files have a number appended.
  log_file_stream(std::string file, log_query query, std::shared_ptr<lazy_pool> disk)
      : reader_{std::make_shared<log_reader>(std::move(file), std::move(query))},
        disk_{std::move(disk)} {}

  // Returns no new text if the pool's queue is full.
  void read(std::function<void(log_text)> done) override;

 private:
  const std::shared_ptr<log_reader> reader_;
  const std::shared_ptr<lazy_pool> disk_;
};

}  // namespace troupe::actors

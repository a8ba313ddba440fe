// A container's log in CRI's format on disk as a stream, read on a pool of threads for disks.
#pragma once

#include <memory>
#include <string>

#include "actors/kubelet/logs/log_reader.hpp"
#include "actors/kubelet/os/lazy_pool.hpp"

namespace troupe::actors {

class log_file_stream final : public log_stream {
 public:
  // `file`: that of the attempt; its rotations have its name and a number.
  log_file_stream(std::string file, log_query query, std::shared_ptr<lazy_pool> disk)
      : reader_{std::make_shared<log_reader>(std::move(file), std::move(query))},
        disk_{std::move(disk)} {}

  // A pool that is busy reads as nothing new.
  void read(std::function<void(log_text)> done) override;

 private:
  const std::shared_ptr<log_reader> reader_;
  const std::shared_ptr<lazy_pool> disk_;
};

}  // namespace troupe::actors

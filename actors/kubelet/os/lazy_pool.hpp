// A thread pool that starts with the first job, so a node that never needs it has no threads.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "runtime/worker_pool.hpp"

namespace troupe::actors {

class lazy_pool {
 public:
  // Like runtime::worker_pool. Thread safe.
  lazy_pool(std::string name, std::size_t threads, std::size_t queue_limit)
      : name_{std::move(name)}, threads_{threads}, queue_limit_{queue_limit} {}

  // Returns false if the job was rejected.
  bool post(runtime::unique_function<void()> job) {
    std::call_once(begun_, [this] {
      pool_ = std::make_unique<runtime::worker_pool>(name_, threads_, queue_limit_);
    });
    return pool_->post(std::move(job));
  }

 private:
  const std::string name_;
  const std::size_t threads_, queue_limit_;
  std::once_flag begun_;
  std::unique_ptr<runtime::worker_pool> pool_;
};

}  // namespace troupe::actors

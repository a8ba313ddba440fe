// Blocking requests to a shared log, for the start of a node and for copying a state. Each is
// retried until the log answers or the time limit is over, with a log line for each retry, since
// etcd may still be starting or electing a leader.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "persistence/replica/shared_log.hpp"

namespace troupe::persistence {

class blocking_log {
 public:
  // `name` is for errors: "etcd at https://10.0.0.1:2379". The log must outlive this object.
  blocking_log(shared_log& log, std::string name, std::chrono::milliseconds limit);

  expected<std::string> identity();
  expected<std::optional<log_item>> read(const std::string& key);
  expected<log_page> list(const log_range& range);
  // The request must be idempotent. Returns `committed` or `conflict`; a refusal is an error.
  expected<log_answer> submit(const log_transaction& request);

  shared_log& log() noexcept { return log_; }
  // The same requests to `made`, a log built on top of this one.
  blocking_log over(shared_log& made) const { return {made, name_, limit_}; }
  const std::string& name() const noexcept { return name_; }

  // `ask` starts a request and gets the callback for its answer.
  template <class T>
  expected<T> wait_for(const std::function<void(std::function<void(expected<T>)>)>& ask);

 private:
  shared_log& log_;
  const std::string name_;
  const std::chrono::milliseconds limit_;
};

extern template expected<revision> blocking_log::wait_for(
    const std::function<void(std::function<void(expected<revision>)>)>& ask);

}  // namespace troupe::persistence

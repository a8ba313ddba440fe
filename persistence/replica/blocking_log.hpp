// The questions to a shared log for a thread that may wait: when a node starts, and when a
// cluster's state is copied. Each is repeated until the log answers or the time is over, with a
// line in the log for each time, since etcd may be starting as well, or be electing.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "persistence/replica/shared_log.hpp"

namespace troupe::persistence {

class blocking_log {
 public:
  // `name` for errors: "etcd at https://10.0.0.1:2379". The log outlives it.
  blocking_log(shared_log& log, std::string name, std::chrono::milliseconds limit);

  expected<std::string> identity();
  expected<std::optional<log_item>> read(const std::string& key);
  expected<log_page> list(const std::string& after, revision at);
  // Only what may happen twice. `committed` or `conflict`; a refusal is an error.
  expected<log_answer> submit(const log_transaction& request);

  shared_log& log() noexcept { return log_; }
  // The same questions to a log that is made of this one.
  blocking_log over(shared_log& made) const { return {made, name_, limit_}; }
  const std::string& name() const noexcept { return name_; }

  // `ask` begins a question and is given what takes its answer.
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

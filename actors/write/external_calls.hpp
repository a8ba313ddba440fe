// Pending calls of external steps. Each ends once: with its answer, at its timeout, or at close().
// Thread safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "actors/write/admission/external_step.hpp"

namespace troupe::actors {

class external_calls : public std::enable_shared_from_this<external_calls> {
 public:
  // `done` runs on the thread that answers or in expire(), or at once on this thread if too many
  // calls are pending (429).
  void ask(const admission::external_step& step, admission::question_ptr about,
           runtime::time_point now, std::function<void(admission::reply)> done);
  // Fails calls that timed out: 500, as for a webhook that does not answer.
  void expire(runtime::time_point now);
  // Fails all pending and later calls with 503.
  void close();
  std::size_t waiting() const;

 private:
  struct call {
    runtime::time_point deadline;
    std::string step;
    std::function<void(admission::reply)> done;
  };
  void answered(std::uint64_t id, admission::reply reply);

  mutable std::mutex mutex_;
  std::map<std::uint64_t, call> waiting_;  // by number, in the order of the calls
  std::uint64_t last_ = 0;
  bool closed_ = false;
};

}  // namespace troupe::actors

// Questions that were asked outside and wait for their answer. Thread safe; each ends once: by its
// answer, at its time-out, or when this closes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "actors/write/admission/outside.hpp"

namespace troupe::actors {

class outside_calls : public std::enable_shared_from_this<outside_calls> {
 public:
  // `done` runs on the thread that answers, or on that of expire(), or here where too many wait
  // already (429).
  void ask(const admission::outside_step& step, admission::question_ptr about,
           runtime::time_point now, std::function<void(admission::reply)> done);
  // Ends what has waited too long: 500, as of a webhook that does not answer.
  void expire(runtime::time_point now);
  // Ends all, and all that will be asked: 503.
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
  std::map<std::uint64_t, call> waiting_;  // by number, in the order in which they were asked
  std::uint64_t last_ = 0;
  bool closed_ = false;
};

}  // namespace troupe::actors

// One Job: runs pods until as many have succeeded as it asks for, or too many have failed.
//
// A sync makes a plan (job_plan.hpp) and carries it out in two steps: the status, in one
// transaction with the pods that are counted by it, then pods that are created or deleted. The
// second step is taken only when the first has been committed: what was decided is in the store
// before it is acted upon. A job that has ended is deleted when its ttlSecondsAfterFinished is
// over.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "actors/controllers/jobs/job_plan.hpp"
#include "actors/controllers/kit/reconciler.hpp"

namespace troupe::actors::jobs {

class job_controller : public reconciler {
 public:
  using reconciler::reconciler;
  std::string describe() const override;

 private:
  void sync() override;
  void after_sync() override;

  void write_status();
  void change_pods();
  void create_batch();
  void create_one(const planned_pod& pod);
  void create_failed(const std::string& message);
  void delete_one(const api::object_ptr& pod);
  bool expire();
  std::chrono::seconds seconds_until(std::int64_t wall_second) const;

  job_plan plan_;
  failure_record failures_;
  runtime::time_point next_look_{};
  std::size_t batch_ = 0, next_ = 0;  // of the pods to be created
  std::uint64_t created_ = 0, deleted_ = 0;
};

}  // namespace troupe::actors::jobs

// The controller of one Job: runs pods until enough have succeeded or too many have failed.
//
// A sync makes a plan (job_plan.hpp) and carries it out in two steps: first the
// status, in one transaction with the pods that it counts; then, after its commit,
// the creation or deletion of pods. Each decision is in the store before it is
// acted upon. A finished Job is deleted when its ttlSecondsAfterFinished has
// expired.
#pragma once

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

  job_plan plan_;
  failure_record failures_;
  runtime::time_point next_look_{};
  std::size_t batch_ = 0, next_ = 0;  // of the pods to create
  std::uint64_t created_ = 0, deleted_ = 0;
};

}  // namespace troupe::actors::jobs

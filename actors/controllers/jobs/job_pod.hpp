// A pod of a job as the controller sees it, and as it makes it. Pure.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string_view>

#include "api/object/object.hpp"
#include "api/schema/batch_v1.pb.h"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::jobs {

// kubernetes: batch/v1 types.go. A pod has it until it is counted.
inline constexpr auto tracking_finalizer = "batch.kubernetes.io/job-tracking";
inline constexpr auto index_annotation = "batch.kubernetes.io/job-completion-index";
inline constexpr auto index_failures_annotation = "batch.kubernetes.io/job-index-failure-count";
inline constexpr auto index_ignored_annotation =
    "batch.kubernetes.io/job-index-ignored-failure-count";
inline constexpr auto index_variable = "JOB_COMPLETION_INDEX";

bool is_indexed(const api::batch::v1::JobSpec& job);
// A deleted pod is replaced when it has ended, not already when it is ending.
bool replaces_failed_only(const api::batch::v1::JobSpec& job);
bool has_tracking_finalizer(const api::object& pod);
// The pod without it; null when it goes with it, as one whose deletion waited for nothing else.
std::unique_ptr<api::body> without_tracking_finalizer(const api::object& pod);

struct job_pod {
  api::object_ptr object;
  std::int32_t index = -1;                             // below 0: none
  std::int32_t index_failures = 0, index_ignored = 0;  // of earlier pods of its index
  bool tracked = false;                                // has the finalizer: is not counted yet
  bool succeeded = false, failed = false;
  bool terminating = false;  // is being deleted, and has not ended
  bool active = false;
  bool ready = false;
  std::int64_t finished_at = 0;  // seconds since the epoch
  std::int32_t restarts = 0;     // of a pod that is pending or running

  const api::core::v1::Pod& body() const;
};

job_pod read_pod(const api::object_ptr& pod, const api::batch::v1::JobSpec& job);

// Smaller goes first where pods are to be removed (kubernetes: controller.ActivePods, in short:
// what has come least far, then the youngest).
struct removal_rank {
  bool assigned, running, ready;
  std::int64_t age;
  std::string_view uid;
  friend auto operator<=>(const removal_rank&, const removal_rank&) = default;
};
removal_rank rank_for_removal(const job_pod& pod);

// A pod that is to be made.
struct planned_pod {
  std::int32_t index = -1;
  std::int32_t index_failures = 0, index_ignored = 0;
};
std::unique_ptr<api::core::v1::Pod> make_pod(const api::object& job, const planned_pod& plan);

}  // namespace troupe::actors::jobs

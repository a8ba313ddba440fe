// Pods of a Job: reads existing pods and creates new ones. Pure functions.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <string_view>

#include "api/object/object.hpp"
#include "api/schema/batch_v1.pb.h"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors::jobs {

// kubernetes: batch/v1 types.go. A pod keeps the finalizer until it is counted.
inline constexpr auto tracking_finalizer = "batch.kubernetes.io/job-tracking";
inline constexpr auto index_annotation = "batch.kubernetes.io/job-completion-index";
inline constexpr auto index_failures_annotation = "batch.kubernetes.io/job-index-failure-count";
inline constexpr auto index_ignored_annotation =
    "batch.kubernetes.io/job-index-ignored-failure-count";
inline constexpr auto index_variable = "JOB_COMPLETION_INDEX";

bool is_indexed(const api::batch::v1::JobSpec& job);
// True if a pod is replaced only once it has terminated, not already while it terminates.
bool replaces_failed_only(const api::batch::v1::JobSpec& job);
bool has_tracking_finalizer(const api::object& pod);
// The pod without it; null if the pod is removed with it, because nothing else held its deletion.
std::unique_ptr<api::body> without_tracking_finalizer(const api::object& pod);

struct job_pod {
  api::object_ptr object;
  std::int32_t index = -1;                             // negative: none
  std::int32_t index_failures = 0, index_ignored = 0;  // of earlier pods of the same index
  bool tracked = false;                                // has the finalizer: not yet counted
  bool succeeded = false, failed = false;
  bool terminating = false;  // is being deleted and has not finished
  bool active = false;
  bool ready = false;
  std::int64_t finished_at = 0;  // seconds since the epoch
  std::int32_t restarts = 0;     // of a pending or running pod

  const api::core::v1::Pod& body() const;
};

job_pod read_pod(const api::object_ptr& pod, const api::batch::v1::JobSpec& job);

// Orders pods for deletion, smaller first (simplified kubernetes: controller.ActivePods: the least
// advanced, then the youngest).
struct removal_rank {
  bool assigned, running, ready;
  std::int64_t age;
  std::string_view uid;
  friend auto operator<=>(const removal_rank&, const removal_rank&) = default;
};
removal_rank rank_for_removal(const job_pod& pod);

// A pod to create.
struct planned_pod {
  std::int32_t index = -1;
  std::int32_t index_failures = 0, index_ignored = 0;
};
std::unique_ptr<api::core::v1::Pod> make_pod(const api::object& job, const planned_pod& plan);

}  // namespace troupe::actors::jobs

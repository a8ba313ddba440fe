// The current state of a Job: its pods, counted and grouped by index, and those still to be counted
// in the status. job_plan.cpp plans from it. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "actors/controllers/jobs/failure_policy.hpp"
#include "actors/controllers/jobs/indexes.hpp"
#include "actors/controllers/jobs/job_pod.hpp"
#include "api/schema/batch_v1.pb.h"

namespace troupe::actors::jobs {

// The state of one index.
struct index_state {
  const job_pod* latest_failed = nullptr;  // the one with the most failures before it
  bool active = false, terminating = false;
};

struct job_state {
  // `pods` must outlive this object.
  job_state(const api::batch::v1::Job& job, const std::vector<job_pod>& pods);

  bool valid_index(const job_pod& pod) const {
    return pod.index >= 0 && pod.index < spec.completions();
  }
  bool is_uncounted(const job_pod& pod) const {
    return pod.tracked && !counted.contains(pod.object->meta().uid()) &&
           (!indexed || valid_index(pod));
  }
  failure_verdict failure_of(const job_pod& pod) const;
  // The last failed pod of an index keeps its finalizer until it is replaced: it records how often
  // the index has failed (kubernetes: getPodsWithDelayedDeletionPerIndex).
  bool is_kept_for_index(const job_pod& pod) const;
  // Restarts of containers count if the backoff limit applies to the whole Job (kubernetes:
  // pastBackoffLimitOnFailure).
  bool exceeds_restart_limit(const std::vector<job_pod>& pods) const;

  const api::batch::v1::JobSpec& spec;
  const bool indexed, per_index;
  index_set succeeded_indexes, failed_indexes;
  std::map<std::int32_t, index_state> indexes;
  std::set<std::string> counted;  // uids that another controller listed as uncounted
  std::vector<const job_pod*> active;
  std::int32_t ready = 0, terminating = 0, new_succeeded = 0, new_failed = 0;

 private:
  void take(const job_pod& pod);
  void evaluate_indexes();
};

// Failures since the last success over all pods of the Job.
struct failure_record {
  std::int32_t failures = 0;
  std::int64_t last_failure = 0;  // seconds since the epoch
};
// `known`: the record of the previous sync; it remembers deleted pods.
failure_record count_failures(const std::vector<job_pod>& pods, const failure_record& known);

}  // namespace troupe::actors::jobs

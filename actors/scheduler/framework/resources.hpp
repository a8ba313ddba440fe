// Amounts of resources as integers, so that fitting ten thousand pods is additions and comparisons.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/schema/core_pod.pb.h"

namespace troupe::actors::scheduler {

// cpu in thousandths of a core; memory and ephemeral storage in bytes; extended resources by name,
// sorted, in units.
struct resources {
  std::int64_t milli_cpu = 0;
  std::int64_t memory = 0;
  std::int64_t ephemeral = 0;
  std::int64_t pods = 0;
  std::vector<std::pair<std::string, std::int64_t>> extended;

  std::int64_t extended_amount(const std::string& name) const;
  void add(const resources& other, std::int64_t sign = +1);

  bool operator==(const resources&) const = default;
};

using resource_map = google::protobuf::Map<std::string, api::resource::Quantity>;
resources read_resources(const resource_map& from);

// What a pod takes: the sum of its containers, or its largest init container if that is more, and
// its overhead. While it is resized each container counts for the larger of what it asks for, what
// its node has set aside and what is in force (kubernetes: resourcehelper.PodRequests with
// UseStatusResources). `pods` is 1.
resources pod_requests(const api::core::v1::Pod& pod);

// Whether two states of one pod take the same.
bool take_the_same(const api::core::v1::Pod& a, const api::core::v1::Pod& b);

// The same for scoring, where a container without requests counts as 100m and 200 MiB (kubernetes:
// scheduler/util.DefaultMilliCPURequest, DefaultMemoryRequest).
resources pod_requests_for_scoring(const api::core::v1::Pod& pod);

}  // namespace troupe::actors::scheduler

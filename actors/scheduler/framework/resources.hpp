// Amounts of resources as integers, so that matching ten thousand pods is fast arithmetic.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/schema/core_pod.pb.h"

namespace troupe::actors::scheduler {

// cpu in millicores; memory and ephemeral storage in bytes; extended resources by name, sorted, in
// units.
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

// The requests of a pod: the sum of its containers, or its largest init container if that is more,
// plus its overhead. During a resize each container counts with the maximum of its requested,
// allocated and actual amounts (kubernetes: resourcehelper.PodRequests with UseStatusResources).
// `pods` is 1.
resources pod_requests(const api::core::v1::Pod& pod);

// True if two states of one pod have the same requests.
bool have_equal_requests(const api::core::v1::Pod& a, const api::core::v1::Pod& b);

// The same for scoring, where a container without requests counts as 100m and 200 MiB (kubernetes:
// scheduler/util.DefaultMilliCPURequest, DefaultMemoryRequest).
resources pod_requests_for_scoring(const api::core::v1::Pod& pod);

}  // namespace troupe::actors::scheduler

// Controllers in their shortest valid form, and simulated kubelets for their pods.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "api/schema/apps_v1.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "support/cluster.hpp"

namespace troupe::test {

using labels = std::map<std::string, std::string>;

// In the namespace "default", with a selector and a template with these labels.
api::core::v1::ReplicationController replication_controller(const std::string& name, int replicas,
                                                            const labels& of);
api::apps::v1::ReplicaSet replica_set(const std::string& name, int replicas, const labels& of);
// RollingUpdate 25 % / 25 %; the template has the image `image`.
api::apps::v1::Deployment deployment(const std::string& name, int replicas,
                                     const std::string& image);

// One round of all kubelets: nodes report ready, bound pods become Running and Ready, and
// terminating pods are removed. Skips pods for which `spare` is true.
void run_kubelets(cluster& c, const std::function<bool(const api::core::v1::Pod&)>& spare = {});
// Reports a pod as Running and Ready, or as Running and not Ready.
void post_pod(cluster& c, const std::string& name, bool ready);

// The number of active pods that are replicas of the object with that uid.
std::size_t active_pods(const cluster& c, const std::string& owner_uid);

// Time until the controller's next sync. All syncs that are due now are done
// before.
std::chrono::milliseconds until_next_sync(cluster& c, const std::string& kind,
                                          const std::string& name);
// Whether `taken` matches a timer of `delay`: the runtime aligns long timers to a grid.
bool is_delay(std::chrono::milliseconds taken, std::chrono::milliseconds delay);

}  // namespace troupe::test

// Controllers in their shortest valid form, and what kubelets do with the pods that they make.
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

// In the namespace "default", with a selector and a template of these labels.
api::core::v1::ReplicationController replication_controller(const std::string& name, int replicas,
                                                            const labels& of);
api::apps::v1::ReplicaSet replica_set(const std::string& name, int replicas, const labels& of);
// RollingUpdate 25 % / 25 %; the template says `image`.
api::apps::v1::Deployment deployment(const std::string& name, int replicas,
                                     const std::string& image);

// One round of all kubelets: nodes say that they are ready, bound pods become Running and Ready,
// and those that are to end are removed. Pods for which `spare` says true are left as they are.
void run_kubelets(cluster& c, const std::function<bool(const api::core::v1::Pod&)>& spare = {});
// Says Running and Ready of a pod, or Running and not Ready.
void post_pod(cluster& c, const std::string& name, bool ready);

// Pods that count as replicas of the object with that uid.
std::size_t active_pods(const cluster& c, const std::string& owner_uid);

// How long the controller waits until it looks again at what there is to do. All that is due now
// is done before.
std::chrono::milliseconds until_next_sync(cluster& c, const std::string& kind,
                                          const std::string& name);
// Whether it is the time that a timer of `delay` takes: the runtime makes long ones fire on a grid.
bool is_delay(std::chrono::milliseconds taken, std::chrono::milliseconds delay);

}  // namespace troupe::test

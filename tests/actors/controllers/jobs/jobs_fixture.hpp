// Jobs in their shortest valid form, and simulated nodes that run them.
#pragma once

#include <map>
#include <string>

#include "actors/kubelet/simulated/simulated_fleet.hpp"
#include "api/schema/batch_v1.pb.h"
#include "support/cluster.hpp"
#include "support/nodes.hpp"

namespace troupe::test {

// In the namespace "default". Its pods get these annotations of `simulation.troupe.dev/`.
inline api::batch::v1::Job job_named(const std::string& name, int parallelism, int completions,
                                     const std::map<std::string, std::string>& behavior = {}) {
  api::batch::v1::Job job;
  job.mutable_metadata()->set_name(name);
  job.mutable_metadata()->set_namespace_("default");
  auto& spec = *job.mutable_spec();
  spec.set_parallelism(parallelism);
  spec.set_completions(completions);
  auto& pod = *spec.mutable_template_();
  *pod.mutable_spec() = pod_named("x").spec();
  pod.mutable_spec()->set_restart_policy("Never");
  for (const auto& [key, value] : behavior)
    (*pod.mutable_metadata()->mutable_annotations())["simulation.troupe.dev/" + key] = value;
  return job;
}

// Runs simulated nodes for as long as it exists.
class simulated_nodes {
 public:
  explicit simulated_nodes(cluster& c, std::uint32_t count = 2) : system_{c.simulation().system()} {
    actors::simulated_fleet_options options;
    options.nodes = count;
    fleet_ = actors::spawn_simulated_fleet(system_, c.plane().core_actors(), options);
  }
  ~simulated_nodes() { system_.stop(fleet_); }
  simulated_nodes(const simulated_nodes&) = delete;
  simulated_nodes& operator=(const simulated_nodes&) = delete;

 private:
  runtime::actor_system& system_;
  runtime::actor_ref fleet_;
};

}  // namespace troupe::test

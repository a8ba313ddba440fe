// Small objects for the tests of the replication rules.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "actors/controllers/replication/replica_owner.hpp"
#include "api/object/object.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::replication {

using labels = std::map<std::string, std::string>;

struct controller_spec {
  std::string name = "web";
  std::string uid = "web-uid";
  std::int32_t replicas = 3;
  labels selector = {{"app", "web"}};
  labels template_labels = {{"app", "web"}};
  std::int32_t min_ready_seconds = 0;
  bool deleting = false;
};

inline replica_owner make_owner(const controller_spec& wanted = {}) {
  auto rc = std::make_unique<api::core::v1::ReplicationController>();
  auto& meta = *rc->mutable_metadata();
  meta.set_name(wanted.name);
  meta.set_namespace_("default");
  meta.set_uid(wanted.uid);
  if (wanted.deleting) meta.mutable_deletion_timestamp()->set_seconds(1);
  auto& spec = *rc->mutable_spec();
  spec.set_replicas(wanted.replicas);
  spec.set_min_ready_seconds(wanted.min_ready_seconds);
  for (const auto& [key, value] : wanted.selector)
    (*spec.mutable_selector())[key] = value;
  auto& labels_of_template = *spec.mutable_template_()->mutable_metadata()->mutable_labels();
  for (const auto& [key, value] : wanted.template_labels)
    labels_of_template[key] = value;
  const auto& kind = api::kind_of<api::core::v1::ReplicationController>();
  return replica_owner{std::make_shared<api::object>(kind, std::move(rc), 1)};
}

struct pod_spec {
  std::string name = "web-1";
  std::string uid = "pod-uid";
  labels with = {{"app", "web"}};
  std::string controller = {};  // uid; empty for an orphan
  std::string node = "node-1";
  std::string phase = "Running";
  std::int64_t created = 1'000;
  std::int64_t ready_since = 0;  // 0: not ready
  std::int32_t restarts = 0;
  std::int32_t other_restarts = 0;  // of a second container
  std::string deletion_cost = {};
  bool deleting = false;
};

inline api::object_ptr make_pod(const pod_spec& wanted = {}) {
  auto pod = std::make_unique<api::core::v1::Pod>();
  auto& meta = *pod->mutable_metadata();
  meta.set_name(wanted.name);
  meta.set_namespace_("default");
  meta.set_uid(wanted.uid);
  meta.mutable_creation_timestamp()->set_seconds(wanted.created);
  for (const auto& [key, value] : wanted.with)
    (*meta.mutable_labels())[key] = value;
  if (!wanted.deletion_cost.empty())
    (*meta.mutable_annotations())["controller.kubernetes.io/pod-deletion-cost"] =
        wanted.deletion_cost;
  if (wanted.deleting) meta.mutable_deletion_timestamp()->set_seconds(2'000);
  if (!wanted.controller.empty()) {
    auto& owner = *meta.add_owner_references();
    owner.set_uid(wanted.controller);
    owner.set_controller(true);
  }
  pod->mutable_spec()->set_node_name(wanted.node);
  pod->mutable_status()->set_phase(wanted.phase);
  if (wanted.ready_since != 0) {
    auto& condition = *pod->mutable_status()->add_conditions();
    condition.set_type("Ready");
    condition.set_status("True");
    condition.mutable_last_transition_time()->set_seconds(wanted.ready_since);
  }
  if (wanted.restarts != 0)
    pod->mutable_status()->add_container_statuses()->set_restart_count(wanted.restarts);
  if (wanted.other_restarts != 0)
    pod->mutable_status()->add_container_statuses()->set_restart_count(wanted.other_restarts);
  const auto& kind = api::kind_of<api::core::v1::Pod>();
  return std::make_shared<api::object>(kind, std::move(pod), 1);
}

}  // namespace troupe::actors::replication

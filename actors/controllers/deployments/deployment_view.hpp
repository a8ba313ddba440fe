// Views of a Deployment and its ReplicaSets for the controller's rules: values of committed
// objects, and the state kept in their annotations. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/controllers/deployments/rolling.hpp"
#include "api/object/object.hpp"
#include "api/schema/apps_v1.pb.h"

namespace troupe::actors::deployments {

// Annotations that upstream's tools also read.
inline constexpr const char* revision_annotation = "deployment.kubernetes.io/revision";
inline constexpr const char* history_annotation = "deployment.kubernetes.io/revision-history";
inline constexpr const char* desired_annotation = "deployment.kubernetes.io/desired-replicas";
inline constexpr const char* max_annotation = "deployment.kubernetes.io/max-replicas";

class deployment_view {
 public:
  explicit deployment_view(api::object_ptr object) : object_{std::move(object)} {}

  const api::object_ptr& object() const noexcept { return object_; }
  const api::apps::v1::Deployment& body() const { return object_->as<api::apps::v1::Deployment>(); }
  const api::apps::v1::DeploymentSpec& spec() const { return body().spec(); }
  const api::meta::v1::ObjectMeta& meta() const { return object_->meta(); }

  bool deleting() const { return meta().has_deletion_timestamp(); }
  bool rolling() const { return spec().strategy().type() != "Recreate"; }
  // The surge and unavailability of a rolling update; both 0 for Recreate.
  fenceposts posts() const;
  bool has_progress_deadline() const;

 private:
  api::object_ptr object_;
};

// A ReplicaSet of the Deployment.
class set_view {
 public:
  explicit set_view(api::object_ptr object) : object_{std::move(object)} {}

  const api::object_ptr& object() const noexcept { return object_; }
  const api::apps::v1::ReplicaSet& body() const { return object_->as<api::apps::v1::ReplicaSet>(); }
  const std::string& name() const { return object_->meta().name(); }
  std::string key() const;
  std::int32_t wanted() const { return body().spec().replicas(); }
  std::int64_t created() const { return object_->meta().creation_timestamp().seconds(); }
  std::int64_t revision() const;            // 0 if missing
  std::int32_t desired_when_sized() const;  // 0 if unknown
  set_size size() const;

 private:
  std::int64_t number(const char* annotation) const;
  api::object_ptr object_;
};

// The sets of a Deployment: the one with the Deployment's template (the oldest of several) and the
// others, oldest first.
struct set_family {
  std::optional<set_view> fresh;
  std::vector<set_view> old;

  std::vector<set_view> all() const;
  std::int64_t newest_old_revision() const;
};
set_family classify_sets(const deployment_view& deployment, std::vector<set_view> sets);

// True if the Deployment was resized since some active set was last sized.
bool resized(const deployment_view& deployment, const set_family& family);

// The ReplicaSet for the current template, with name, labels, annotations, owner and size.
std::unique_ptr<api::apps::v1::ReplicaSet> new_set(const deployment_view& deployment,
                                                   std::int64_t revision, std::int32_t size);

// Updates the annotations of the new set; returns null if they are current.
std::unique_ptr<api::apps::v1::ReplicaSet> with_revision(const deployment_view& deployment,
                                                         const set_view& set,
                                                         std::int64_t revision);

// The set with another size, and the annotations that record the Deployment's size.
std::unique_ptr<api::apps::v1::ReplicaSet> with_size(const deployment_view& deployment,
                                                     const set_view& set, std::int32_t size);

// Old sets without pods beyond revisionHistoryLimit, oldest revision first.
std::vector<set_view> expired_sets(const deployment_view& deployment, const set_family& family);

}  // namespace troupe::actors::deployments

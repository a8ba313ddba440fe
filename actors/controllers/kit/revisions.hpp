// ControllerRevisions: the versions of the pod template of a StatefulSet or DaemonSet (kubernetes:
// pkg/controller/history). A revision's data is a strategic merge patch that restores its template;
// `kubectl rollout history` and `undo` read it. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/apps_sets.pb.h"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// The pod's label with the revision from which it was created.
inline constexpr const char* pod_revision_label = "controller-revision-hash";

// {"spec":{"template":{"$patch":"replace", …}}}; deterministic: equal templates give equal text.
std::string revision_data(const api::core::v1::PodTemplateSpec& pod_template);
// Returns nothing if the data is not in the format of revision_data().
std::optional<api::core::v1::PodTemplateSpec> template_of(const api::object& revision);

class revision_history {
 public:
  // Revisions of one owner, in any order.
  explicit revision_history(std::vector<api::object_ptr> revisions);

  const std::vector<api::object_ptr>& all() const noexcept { return revisions_; }
  // The newest revision with this data, or the one of this name; null if there is none.
  api::object_ptr with_data(std::string_view data) const;
  api::object_ptr named(std::string_view name) const;
  // One above the highest number; nothing if that is the largest that there is: a client may have
  // written it.
  std::optional<std::int64_t> next_number() const;
  // The first revision whose number is not its place from 1 on, and that place.
  std::optional<std::pair<api::object_ptr, std::int64_t>> misnumbered() const;
  // The oldest revisions beyond `limit`, without those named in `live`.
  std::vector<api::object_ptr> expired(std::int32_t limit,
                                       const std::set<std::string, std::less<>>& live) const;

 private:
  std::vector<api::object_ptr> revisions_;  // by number, the newest last
};

// Creates a revision named OWNER-HASH with the labels of the template, the hash as label
// `hash_label`, and the annotations of the owner, without an owner reference.
std::unique_ptr<api::apps::v1::ControllerRevision> make_revision(
    const api::object& owner, const api::core::v1::PodTemplateSpec& pod_template,
    std::int64_t number, std::int32_t collisions, const char* hash_label);

std::int64_t number_of(const api::object& revision);

}  // namespace troupe::actors

// A controller whose owner has a history of its pod template in ControllerRevisions, which are
// dependents of it.
#pragma once

#include "actors/controllers/kit/reconciler.hpp"
#include "actors/controllers/kit/revisions.hpp"

namespace troupe::actors {

class revision_reconciler : public reconciler {
 public:
  using reconciler::reconciler;

 protected:
  // Makes the revision of the template, or gives it the highest number after a rollback. False when
  // it sent something: the rest waits for the next sync.
  bool keep_revision(const revision_history& revisions,
                     const api::core::v1::PodTemplateSpec& pod_template, std::int32_t collisions,
                     const char* hash_label);
  // Removes the oldest revisions beyond the limit that are not `live`.
  void truncate(const revision_history& revisions, std::int32_t limit,
                const std::set<std::string, std::less<>>& live);

 private:
  // A copy of the owner whose status counts one collision of hashes more.
  virtual std::unique_ptr<api::body> with_collision() const = 0;
};

// For a copy of an owner.
template <class T>
std::unique_ptr<api::body> add_collision(const api::object& owner) {
  auto changed = owner.copy_as<T>();
  changed->mutable_status()->set_collision_count(changed->status().collision_count() + 1);
  return changed;
}

}  // namespace troupe::actors

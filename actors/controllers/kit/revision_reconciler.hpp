// The base class of controllers whose dependents are pods and, as the history of the owner's pod
// template, ControllerRevisions.
#pragma once

#include "actors/controllers/kit/reconciler.hpp"
#include "actors/controllers/kit/revisions.hpp"

namespace troupe::actors {

class revision_reconciler : public reconciler {
 public:
  using reconciler::reconciler;

 protected:
  static bool is_pod(const api::object& object);
  static bool is_revision(const api::object& object);

  // The dependents that are revisions.
  revision_history history() const;

  // Creates the revision of the template, or renumbers it as the highest after a rollback. If no
  // higher number is left, the revisions are first numbered from 1 on, in their order. Returns
  // false if it sent a write: the rest then waits for the next sync.
  bool keep_revision(const revision_history& revisions,
                     const api::core::v1::PodTemplateSpec& pod_template, std::int32_t collisions,
                     const char* hash_label);
  // Deletes the oldest revisions beyond the limit, except those in `live`.
  void truncate(const revision_history& revisions, std::int32_t limit,
                const std::set<std::string, std::less<>>& live);

  // Syncs again when a ready pod becomes available.
  void enqueue_availability(std::int32_t min_ready_seconds);

 private:
  void renumber(const api::object_ptr& revision, std::int64_t number);
  // A copy of the owner with the collision count of its status incremented.
  virtual std::unique_ptr<api::body> with_collision() const = 0;
};

// Implements with_collision().
template <class T>
std::unique_ptr<api::body> add_collision(const api::object& owner) {
  auto changed = owner.copy_as<T>();
  changed->mutable_status()->set_collision_count(changed->status().collision_count() + 1);
  return changed;
}

}  // namespace troupe::actors

#include "actors/controllers/kit/revision_reconciler.hpp"

#include "actors/core/pod_health.hpp"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::apps::v1::ControllerRevision;
using api::core::v1::Pod;

bool revision_reconciler::is_pod(const api::object& object) {
  return &object.kind() == &api::kind_of<Pod>();
}

bool revision_reconciler::is_revision(const api::object& object) {
  return &object.kind() == &api::kind_of<ControllerRevision>();
}

revision_history revision_reconciler::history() const {
  std::vector<api::object_ptr> found;
  for (const auto& [key, each] : dependents())
    if (is_revision(*each)) found.push_back(each);
  return revision_history{std::move(found)};
}

bool revision_reconciler::keep_revision(const revision_history& revisions,
                                        const api::core::v1::PodTemplateSpec& pod_template,
                                        std::int32_t collisions, const char* hash_label) {
  const auto known = revisions.with_data(revision_data(pod_template));
  if (known && known == revisions.all().back()) return true;
  const auto number = revisions.next_number();
  if (!number) {
    const auto wrong = revisions.misnumbered();
    renumber(wrong->first, wrong->second);
    return false;
  }
  if (known) {
    renumber(known, *number);
    return false;
  }
  auto made = make_revision(*owner(), pod_template, *number, collisions, hash_label);
  const auto& meta = owner()->meta();
  const auto revision_key =
      api::kind_of<ControllerRevision>().key(meta.namespace_(), made->metadata().name());
  if (const auto taken = read_store().find(revision_key)) {
    const bool ours = controller_uid(*taken) == meta.uid() &&
                      taken->as<ControllerRevision>().data().raw() == made->data().raw();
    // If it is ours the watcher is only behind.
    ours ? resync() : replace(owner(), with_collision());
    return false;
  }
  if (const auto sent = create(std::move(made)); !sent) {
    record(true, "FailedCreate", "Error creating: " + sent.error().message);
    retry();
  }
  return false;
}

void revision_reconciler::renumber(const api::object_ptr& revision, std::int64_t number) {
  auto changed = revision->copy_as<ControllerRevision>();
  changed->set_revision(number);
  replace(revision, std::move(changed));
}

void revision_reconciler::truncate(const revision_history& revisions, std::int32_t limit,
                                   const std::set<std::string, std::less<>>& live) {
  for (const auto& each : revisions.expired(limit, live))
    remove_dependent(each);
}

void revision_reconciler::enqueue_availability(std::int32_t min_ready_seconds) {
  if (min_ready_seconds <= 0) return;
  for (const auto& [key, each] : dependents()) {
    if (!is_pod(*each)) continue;
    const auto wait = available_in(each->as<Pod>(), min_ready_seconds, wall_seconds());
    if (wait && *wait > 0) enqueue_in_seconds(*wait);
  }
}

}  // namespace troupe::actors

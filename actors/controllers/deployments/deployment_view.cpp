#include "actors/controllers/deployments/deployment_view.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

#include "actors/controllers/deployments/defaults.hpp"
#include "actors/controllers/deployments/template_hash.hpp"
#include "actors/controllers/kit/share.hpp"

namespace troupe::actors::deployments {

namespace {

using api::apps::v1::Deployment;
using api::apps::v1::ReplicaSet;

// False for annotations that only concern the Deployment (deployment/util.annotationsToSkip).
bool inherited(const std::string& annotation) {
  static const std::set<std::string, std::less<>> skipped{
      "kubectl.kubernetes.io/last-applied-configuration",
      revision_annotation,
      history_annotation,
      desired_annotation,
      max_annotation,
      "deprecated.deployment.rollback.to"};
  return !skipped.contains(annotation);
}

bool set_annotation(ReplicaSet& set, const std::string& name, const std::string& value) {
  auto& slot = (*set.mutable_metadata()->mutable_annotations())[name];
  if (slot == value) return false;
  slot = value;
  return true;
}

bool copy_annotations(const deployment_view& from, ReplicaSet& to) {
  bool changed = false;
  for (const auto& [name, value] : from.meta().annotations())
    if (inherited(name)) changed |= set_annotation(to, name, value);
  return changed;
}

bool set_sizes(const deployment_view& deployment, ReplicaSet& set) {
  const auto replicas = deployment.spec().replicas();
  const auto surge = deployment.rolling() ? deployment.posts().surge : 0;
  const bool desired = set_annotation(set, desired_annotation, std::to_string(replicas));
  const bool most =
      set_annotation(set, max_annotation, std::to_string(std::int64_t{replicas} + surge));
  return desired || most;
}

// "1,3": the earlier revisions of the set (a rollback makes it the newest again).
void remember_revision(ReplicaSet& set, const std::string& revision) {
  if (revision.empty()) return;
  auto& history = (*set.mutable_metadata()->mutable_annotations())[history_annotation];
  history = history.empty() ? revision : history + "," + revision;
  while (history.size() > defaults::history_limit_chars && history.find(',') != std::string::npos)
    history.erase(0, history.find(',') + 1);
}

}  // namespace

fenceposts deployment_view::posts() const {
  if (!rolling()) return {};
  const auto& update = spec().strategy().rolling_update();
  const auto replicas = spec().replicas();
  return resolve(share_of(update.max_surge(), replicas, rounding::up),
                 share_of(update.max_unavailable(), replicas, rounding::down), replicas);
}

bool deployment_view::has_progress_deadline() const {
  return spec().has_progress_deadline_seconds() &&
         spec().progress_deadline_seconds() != defaults::no_deadline;
}

std::string set_view::key() const {
  return object_->kind().key(object_->meta().namespace_(), name());
}

std::int64_t set_view::number(const char* annotation) const {
  const auto& all = object_->meta().annotations();
  const auto found = all.find(annotation);
  std::int64_t value = 0;
  if (found != all.end())
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

std::int64_t set_view::revision() const {
  return number(revision_annotation);
}

std::int32_t set_view::desired_when_sized() const {
  return static_cast<std::int32_t>(number(desired_annotation));
}

set_size set_view::size() const {
  return {.key = key(),
          .created = created(),
          .wanted = wanted(),
          .pods = body().status().replicas(),
          .available = body().status().available_replicas(),
          .max_when_sized = static_cast<std::int32_t>(std::clamp<std::int64_t>(
              number(max_annotation), 0, std::numeric_limits<std::int32_t>::max()))};
}

std::vector<set_view> set_family::all() const {
  auto result = old;
  if (fresh) result.push_back(*fresh);
  return result;
}

std::int64_t set_family::newest_old_revision() const {
  std::int64_t newest = 0;
  for (const auto& set : old)
    newest = std::max(newest, set.revision());
  return newest;
}

set_family classify_sets(const deployment_view& deployment, std::vector<set_view> sets) {
  std::sort(sets.begin(), sets.end(), [](const set_view& a, const set_view& b) {
    return std::make_tuple(a.created(), a.name()) < std::make_tuple(b.created(), b.name());
  });
  set_family family;
  for (auto& set : sets) {
    if (!family.fresh &&
        same_template(set.body().spec().template_(), deployment.spec().template_())) {
      family.fresh = std::move(set);
    } else {
      family.old.push_back(std::move(set));
    }
  }
  return family;
}

bool resized(const deployment_view& deployment, const set_family& family) {
  const auto all = family.all();
  return std::any_of(all.begin(), all.end(), [&](const set_view& set) {
    const auto then = set.desired_when_sized();
    return set.wanted() > 0 && then > 0 && then != deployment.spec().replicas();
  });
}

std::unique_ptr<ReplicaSet> new_set(const deployment_view& deployment, std::int64_t revision,
                                    std::int32_t size) {
  const auto& from = deployment.spec();
  const auto hash = template_hash(from.template_(), deployment.body().status().collision_count());
  auto set = std::make_unique<ReplicaSet>();
  auto& meta = *set->mutable_metadata();
  meta.set_namespace_(deployment.meta().namespace_());
  meta.set_name(deployment.meta().name() + "-" + hash);
  *meta.mutable_labels() = from.template_().metadata().labels();
  (*meta.mutable_labels())[hash_label] = hash;

  auto& spec = *set->mutable_spec();
  spec.set_replicas(size);
  spec.set_min_ready_seconds(from.min_ready_seconds());
  *spec.mutable_selector() = from.selector();
  (*spec.mutable_selector()->mutable_match_labels())[hash_label] = hash;
  *spec.mutable_template_() = from.template_();
  (*spec.mutable_template_()->mutable_metadata()->mutable_labels())[hash_label] = hash;

  copy_annotations(deployment, *set);
  set_annotation(*set, revision_annotation, std::to_string(revision));
  set_sizes(deployment, *set);
  return set;
}

std::unique_ptr<ReplicaSet> with_revision(const deployment_view& deployment, const set_view& set,
                                          std::int64_t revision) {
  auto changed = set.object()->copy_as<ReplicaSet>();
  bool differs = copy_annotations(deployment, *changed);
  if (set.revision() < revision) {
    const auto before = set.revision() == 0 ? std::string{} : std::to_string(set.revision());
    set_annotation(*changed, revision_annotation, std::to_string(revision));
    remember_revision(*changed, before);
    differs = true;
  }
  if (changed->spec().min_ready_seconds() != deployment.spec().min_ready_seconds()) {
    changed->mutable_spec()->set_min_ready_seconds(deployment.spec().min_ready_seconds());
    differs = true;
  }
  return differs ? std::move(changed) : nullptr;
}

std::unique_ptr<ReplicaSet> with_size(const deployment_view& deployment, const set_view& set,
                                      std::int32_t size) {
  auto changed = set.object()->copy_as<ReplicaSet>();
  const bool resized = changed->spec().replicas() != size;
  if (resized) {
    changed->mutable_spec()->set_replicas(size);
    changed->mutable_metadata()->set_generation(changed->metadata().generation() + 1);
  }
  const bool annotated = set_sizes(deployment, *changed);
  return resized || annotated ? std::move(changed) : nullptr;
}

std::vector<set_view> expired_sets(const deployment_view& deployment, const set_family& family) {
  if (!deployment.spec().has_revision_history_limit()) return {};
  std::vector<set_view> empty;
  for (const auto& set : family.old) {
    const auto& meta = set.object()->meta();
    if (set.wanted() == 0 && set.body().status().replicas() == 0 &&
        !meta.has_deletion_timestamp() &&
        meta.generation() <= set.body().status().observed_generation())
      empty.push_back(set);
  }
  const auto limit = static_cast<std::size_t>(deployment.spec().revision_history_limit());
  if (empty.size() <= limit) return {};
  std::stable_sort(empty.begin(), empty.end(), [](const set_view& a, const set_view& b) {
    return a.revision() < b.revision();
  });
  empty.erase(empty.end() - static_cast<std::ptrdiff_t>(limit), empty.end());
  return empty;
}

}  // namespace troupe::actors::deployments

#include "tools/client/rolling_update.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "actors/write/admission/api_access.hpp"
#include "api/codec/json_text.hpp"
#include "api/equality.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/scheme.hpp"
#include "api/selectors/selector.hpp"

namespace troupe::tools {

namespace {

using api::core::v1::Pod;
using api::core::v1::PodList;
using api::core::v1::PodTemplateSpec;
using api::core::v1::ReplicationController;

template <class T>
using result = tl::expected<T, std::string>;

std::string json_string(std::string_view text) {
  std::string out;
  api::append_json_string(out, text);
  return out;
}

std::string mark_of(const api::meta::v1::ObjectMeta& meta) {
  const auto found = meta.annotations().find(rolling_update_mark);
  return found == meta.annotations().end() ? std::string{} : found->second;
}

bool ready(const Pod& pod) {
  return std::any_of(
      pod.status().conditions().begin(), pod.status().conditions().end(),
      [](const auto& each) { return each.type() == "Ready" && each.status() == "True"; });
}

// The reason why a pod is not ready, in a few words.
std::string reason_not_ready(const Pod& pod) {
  for (const auto& each : pod.status().container_statuses())
    if (each.state().has_waiting()) return each.state().waiting().reason();
  for (const auto& each : pod.status().conditions())
    if (each.status() == "False" && !each.message().empty()) return each.message();
  return pod.status().phase();
}

// Removes the token volume and its mounts that admission added for access to the API.
void drop_api_access(api::core::v1::PodSpec& spec) {
  const auto drop = [](auto& all) {
    for (int i = all.size() - 1; i >= 0; --i)
      if (all[i].name().starts_with(actors::admission::api_access_prefix))
        all.erase(all.begin() + i);
  };
  drop(*spec.mutable_volumes());
  for (auto* containers : {spec.mutable_init_containers(), spec.mutable_containers()})
    for (auto& container : *containers)
      drop(*container.mutable_volume_mounts());
}

// Whether the template would create this pod again. Ignores the fields that admission adds to a pod
// and that the template does not set.
bool made_of(const PodTemplateSpec& from, const Pod& pod) {
  const auto& wanted = from.spec();
  auto is = pod.spec();
  if (!wanted.has_node_name()) is.clear_node_name();
  if (!wanted.has_service_account_name()) is.clear_service_account_name();
  if (!wanted.has_service_account()) is.clear_service_account();
  if (!wanted.has_priority_class_name()) is.clear_priority_class_name();
  if (!wanted.has_priority()) is.clear_priority();
  if (!wanted.has_preemption_policy()) is.clear_preemption_policy();
  drop_api_access(is);
  if (wanted.image_pull_secrets().empty()) is.clear_image_pull_secrets();
  auto& tolerations = *is.mutable_tolerations();
  if (const int added = tolerations.size() - wanted.tolerations_size(); added > 0)
    tolerations.DeleteSubrange(wanted.tolerations_size(), added);
  return api::same_meaning(is, wanted);
}

// The controller's pods, by their mark. Pods that are being deleted do not count.
struct pods_of_controller {
  std::vector<Pod> old, updated;

  int count() const { return static_cast<int>(old.size() + updated.size()); }
  const Pod* unready() const {
    const auto found =
        std::find_if(updated.begin(), updated.end(), [](const Pod& each) { return !ready(each); });
    return found == updated.end() ? nullptr : &*found;
  }
};

class update {
 public:
  update(cluster_client& cluster, wait::clock& time, const rolling_update_options& options,
         const std::function<void(std::string)>& say)
      : cluster_{cluster}, clock_{time}, options_{options}, say_{say} {}

  result<void> run() {
    if (auto begun = begin(); !begun) return begun;
    for (;;) {
      // Also before the first step: an interrupted update may not have replaced its last pod yet.
      const auto pods = settle();
      if (!pods) return tl::make_unexpected(pods.error());
      if (pods->old.empty()) return finish();
      if (auto done = replace(*pods); !done) return done;
    }
  }

 private:
  const api::kind_info& kind() const { return api::kind_of<ReplicationController>(); }

  result<ReplicationController> controller() {
    auto found = get_object(cluster_, kind(), options_.ns, options_.controller);
    if (!found) return tl::make_unexpected(found.error());
    if (*found == nullptr)
      return tl::make_unexpected(
          fmt::format("there is no replication controller {} in namespace {}", options_.controller,
                      options_.ns));
    return static_cast<ReplicationController&>(**found);
  }

  result<void> patch(std::string path, const std::string& body, const char* form) {
    const auto answer = cluster_.call({"PATCH", std::move(path), body, form});
    if (!answer) return tl::make_unexpected(answer.error());
    if (answer->status != 200) return tl::make_unexpected(refusal(*answer));
    return {};
  }
  std::string path() const { return path_of(kind(), options_.ns, options_.controller); }

  // Marks the controller, or finds an update in progress that still has the wanted template.
  result<void> begin() {
    const auto found = controller();
    if (!found) return tl::make_unexpected(found.error());
    mark_ = mark_of(found->metadata());
    if (mark_.empty()) return begin_new(*found);
    const auto over = reason_to_begin_again(*found);
    if (!over) return tl::make_unexpected(over.error());
    if (over->empty()) {
      say_(fmt::format("continuing the interrupted update of {}", options_.controller));
      return {};
    }
    if (auto begun = begin_new(*found); !begun) return begun;
    say_(*over);
    return keep_matching_pods();
  }

  // Why the update in progress must not continue; empty if it may.
  result<std::string> reason_to_begin_again(const ReplicationController& now) {
    const auto& from = now.spec().template_();
    const auto& containers = from.spec().containers();
    const auto image = containers.empty() ? std::string{} : containers[0].image();
    if (options_.image && image != *options_.image)
      return fmt::format("the update of {} to image {} ends, a new one replaces it",
                         options_.controller, image);
    auto changed =
        fmt::format("the template of {} has changed since its update began: starting a new update",
                    options_.controller);
    if (mark_of(from.metadata()) != mark_) return changed;
    const auto pods = list();
    if (!pods) return tl::make_unexpected(pods.error());
    const bool same = std::all_of(pods->updated.begin(), pods->updated.end(),
                                  [&](const Pod& each) { return made_of(from, each); });
    return same ? std::string{} : changed;
  }

  result<void> begin_new(const ReplicationController& found) {
    const auto& containers = found.spec().template_().spec().containers();
    if (options_.image && containers.size() != 1)
      return tl::make_unexpected(
          fmt::format("--image needs a template with one container, that of {} has {}: use kubectl "
                      "set image, then run this without --image",
                      options_.controller, containers.size()));
    mark_ = options_.mark;
    auto containers_part =
        options_.image
            ? fmt::format(R"(,"spec":{{"containers":[{{"name":{},"image":{}}}]}})",
                          json_string(containers[0].name()), json_string(*options_.image))
            : std::string{};
    return patch(path(),
                 fmt::format(R"({{"metadata":{{"resourceVersion":{},{}}},)"
                             R"("spec":{{"template":{{"metadata":{{{}}}{}}}}}}})",
                             json_string(found.metadata().resource_version()), annotation(),
                             annotation(), containers_part),
                 "application/strategic-merge-patch+json");
  }
  std::string annotation() const {
    return fmt::format(R"("annotations":{{{}:{}}})", json_string(rolling_update_mark),
                       json_string(mark_));
  }

  // Pods that the template would create again are not replaced, which makes a rollback short.
  result<void> keep_matching_pods() {
    const auto now = controller();
    if (!now) return tl::make_unexpected(now.error());
    const auto pods = list();
    if (!pods) return tl::make_unexpected(pods.error());
    for (const auto& each : pods->old) {
      const auto& name = each.metadata().name();
      if (!ready(each) || !made_of(now->spec().template_(), each)) continue;
      // A pod that no longer exists cannot be kept.
      if (patch(path_of(api::kind_of<Pod>(), options_.ns, name),
                fmt::format(R"({{"metadata":{{"uid":{},{}}}}})", json_string(each.metadata().uid()),
                            annotation()),
                "application/merge-patch+json"))
        say_(fmt::format("{} is already up to date", name));
    }
    return {};
  }

  result<void> finish() {
    auto done = patch(path(),
                      fmt::format(R"({{"metadata":{{"annotations":{{{}:null}}}}}})",
                                  json_string(rolling_update_mark)),
                      "application/merge-patch+json");
    if (done) say_(fmt::format("{}: all pods are updated", options_.controller));
    return done;
  }

  result<pods_of_controller> list() {
    const auto owner = controller();
    if (!owner) return tl::make_unexpected(owner.error());
    // Two updates unaware of each other would replace each other's pods for ever.
    if (mark_of(owner->spec().template_().metadata()) != mark_)
      return tl::make_unexpected(
          fmt::format("another update of {} has begun, or its template was replaced; run this "
                      "again to continue from the current state",
                      options_.controller));
    wanted_ = owner->spec().replicas();
    PodList found;
    const auto selector = api::label_selector::from(owner->spec().selector()).str();
    if (auto done = list_into(cluster_, api::kind_of<Pod>(), options_.ns, selector, found); !done)
      return tl::make_unexpected(done.error());
    pods_of_controller out;
    for (auto& pod : *found.mutable_items()) {
      const auto& meta = pod.metadata();
      const bool ours = std::any_of(
          meta.owner_references().begin(), meta.owner_references().end(), [&](const auto& each) {
            return each.uid() == owner->metadata().uid() && each.controller();
          });
      if (!ours || meta.has_deletion_timestamp()) continue;
      (mark_of(meta) == mark_ ? out.updated : out.old).push_back(std::move(pod));
    }
    // Pods that are not ready are replaced first.
    std::stable_partition(out.old.begin(), out.old.end(),
                          [](const Pod& each) { return !ready(each); });
    return out;
  }

  result<void> replace(const pods_of_controller& pods) {
    const auto& pod = pods.old.front();
    const auto& name = pod.metadata().name();
    const auto answer = cluster_.call(
        {"DELETE",
         path_of(api::kind_of<Pod>(), options_.ns, name),
         fmt::format(R"({{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{{"uid":{}}}}})",
                     json_string(pod.metadata().uid())),
         "application/json",
         {}});
    if (!answer) return tl::make_unexpected(answer.error());
    // The pod is deleted already, or another pod has its name: the next round finds out.
    if (answer->status != 200 && answer->status != 202 && answer->status != 404 &&
        answer->status != 409)
      return tl::make_unexpected(refusal(*answer));
    say_(fmt::format("deleted {} ({} of {} updated)", name, pods.updated.size(), pods.count()));
    if (!clock_.wait_until(clock_.now() + options_.update_period))
      return tl::make_unexpected(interrupted);
    return {};
  }

  // Waits until the desired number of pods exists and the new ones are ready.
  result<pods_of_controller> settle() {
    pods_of_controller seen;
    const auto done = wait::poll(clock_, {options_.poll, options_.timeout, true},
                                 [&]() -> tl::expected<bool, std::string> {
                                   auto pods = list();
                                   if (!pods) return tl::make_unexpected(pods.error());
                                   seen = std::move(*pods);
                                   return seen.count() >= wanted_ && seen.unready() == nullptr;
                                 });
    if (done) return seen;
    switch (done.error().reason) {
      case wait::failure_reason::interrupted:
        return tl::make_unexpected(interrupted);
      case wait::failure_reason::condition_failed:
        return tl::make_unexpected(done.error().message);
      case wait::failure_reason::timed_out:
        break;
    }
    const auto* pod = seen.unready();
    return tl::make_unexpected(
        fmt::format("timed out waiting for the pods of {}: {} of {} exist{}; run this again to "
                    "continue, or with --image for another image",
                    options_.controller, seen.count(), wanted_,
                    pod == nullptr ? ""
                                   : fmt::format(", {} is not ready: {}", pod->metadata().name(),
                                                 reason_not_ready(*pod))));
  }

  static constexpr const char* interrupted = "interrupted; run this again to continue";

  cluster_client& cluster_;
  wait::clock& clock_;
  const rolling_update_options& options_;
  const std::function<void(std::string)>& say_;
  std::string mark_;
  int wanted_ = 0;
};

}  // namespace

result<void> rolling_update(cluster_client& cluster, wait::clock& time,
                            const rolling_update_options& options,
                            const std::function<void(std::string)>& say) {
  return update{cluster, time, options, say}.run();
}

}  // namespace troupe::tools

#include "actors/controllers/daemon_sets/daemon_set_controller.hpp"

#include <fmt/format.h>
#include <google/protobuf/util/message_differencer.h>

#include <algorithm>

#include "actors/controllers/daemon_sets/defaults.hpp"
#include "actors/controllers/kit/share.hpp"
#include "actors/core/labels.hpp"
#include "actors/core/pod_health.hpp"
#include "api/equality.hpp"
#include "api/object/object_key.hpp"

namespace troupe::actors::daemon_sets {

using api::core::v1::Node;
using api::core::v1::Pod;

namespace {

constexpr const char* hash_label = pod_revision_label;

// True if fit() gives the same result for both.
bool same_for_pods(const api::object& a, const api::object& b) {
  return same_labels(a.meta().labels(), b.meta().labels()) &&
         api::same_meaning(a.as<Node>().spec(), b.as<Node>().spec());
}

}  // namespace

// -- state ----------------------------------------------------------------------------------------

void daemon_set_controller::owner_changed() {
  if (modelled_ != owner()->meta().generation()) read_nodes();
}

void daemon_set_controller::read_nodes() {
  modelled_ = owner()->meta().generation();
  model_ = scheduler::read_pod_info(
      std::make_shared<api::object>(api::kind_of<Pod>(), make_pod(set(), {}), 0));
  for (auto each = nodes_.begin(); each != nodes_.end();) {
    each->second.present = false;
    each->second.fit = {};
    each = each->second.pods.empty() ? nodes_.erase(each) : std::next(each);
  }
  read_store().scan(api::kind_of<Node>().prefix(), {},
                    [this](std::string_view, const api::object_ptr& node) {
                      auto& state = nodes_[node->meta().name()];
                      state.present = true;
                      state.fit = fit(*model_, *node);
                      count_scanned(1);
                      return true;
                    });
}

bool daemon_set_controller::take_observed(const watch_event& event) {
  const auto& name = event.object->meta().name();
  if (event.type == event_type::deleted) {
    auto& state = nodes_[name];
    state.present = false;
    state.fit = {};
    drop_if_empty(name);
    return true;
  }
  if (event.previous && same_for_pods(*event.previous, *event.object)) return false;
  auto& state = nodes_[name];
  const auto now = fit(*model_, *event.object);
  const bool news = !state.present || now.runs != state.fit.runs || now.keeps != state.fit.keeps;
  state.present = true;
  state.fit = now;
  return news;
}

void daemon_set_controller::take(const std::string& key, const api::object_ptr& dependent) {
  forget(key);
  reconciler::take(key, dependent);
  if (!is_pod(*dependent)) return;
  if (const auto& node = node_of(dependent->as<Pod>()); !node.empty())
    nodes_[node].pods[key] = dependent;
}

void daemon_set_controller::forget(const std::string& key) {
  const auto* known = find(key);
  if (known == nullptr) return;
  if (is_pod(*known)) {
    const auto node = node_of(known->as<Pod>());
    if (const auto state = nodes_.find(node); state != nodes_.end()) state->second.pods.erase(key);
    drop_if_empty(node);
  }
  reconciler::forget(key);
}

void daemon_set_controller::drop_if_empty(const std::string& node) {
  const auto found = nodes_.find(node);
  if (found != nodes_.end() && !found->second.present && found->second.pods.empty())
    nodes_.erase(found);
}

void daemon_set_controller::forget_all() {
  reconciler::forget_all();
  nodes_.clear();
  modelled_ = 0;
}

std::vector<daemon_node> daemon_set_controller::nodes() const {
  std::vector<daemon_node> all;
  all.reserve(nodes_.size());
  const auto now = wall_seconds();
  for (const auto& [name, state] : nodes_) {
    auto& node = all.emplace_back(daemon_node{name, state.fit, {}});
    for (const auto& [key, object] : state.pods) {
      const auto& pod = object->as<Pod>();
      const auto& phase = pod.status().phase();
      const auto wait = available_in(pod, set().spec().min_ready_seconds(), now);
      node.pods.push_back({.key = key,
                           .created = pod.metadata().creation_timestamp().seconds(),
                           .current = label_of(*object, hash_label) == hash_,
                           .failed = phase == "Failed",
                           .succeeded = phase == "Succeeded",
                           .terminating = pod.metadata().has_deletion_timestamp(),
                           .ready = wait.has_value(),
                           .available = wait == 0});
    }
    std::stable_sort(node.pods.begin(), node.pods.end(),
                     [](const auto& a, const auto& b) { return a.created < b.created; });
  }
  return all;
}

daemon_rules daemon_set_controller::rules(const std::vector<daemon_node>& nodes) const {
  const auto& strategy = set().spec().update_strategy();
  const auto desired = count_nodes(nodes).desired;
  daemon_rules result{
      .rolling = strategy.type() != "OnDelete",
      .unavailable = share_of(strategy.rolling_update().max_unavailable(), desired, rounding::up),
      .surge = share_of(strategy.rolling_update().max_surge(), desired, rounding::up)};
  if (result.unavailable == 0 && result.surge == 0) result.unavailable = 1;
  return result;
}

// -- one sync -------------------------------------------------------------------------------------

void daemon_set_controller::sync() {
  // Pods and revisions whose claim failed are not known, and must not be created again.
  if (failed() || owner()->meta().has_deletion_timestamp()) return;
  const auto revisions = history();
  const auto& spec = set().spec();
  if (!keep_revision(revisions, spec.template_(), set().status().collision_count(), hash_label))
    return;
  hash_ = label_of(*revisions.all().back(), hash_label);
  then(&daemon_set_controller::report);
  const auto all = nodes();
  count_scanned(all.size());
  const auto limits = rules(all);
  create_.clear();
  to_remove_ = defaults::burst;
  asked_.clear();
  for (const auto& node : all) {
    const auto plan = plan_node(node, limits);
    if (plan.create) create_.push_back(node.name);
    remove_pods(plan.remove);
    remove_ended(node.name, plan.ended);
  }
  const auto update = plan_rolling(all, limits);
  create_.insert(create_.end(), update.create.begin(), update.create.end());
  remove_pods(update.remove);
  drop_old_revisions(revisions);
  if (create_.empty()) return;
  log_decision(fmt::format("makes pods for {} nodes", create_.size()));
  create_batch();
}

void daemon_set_controller::after_sync() {
  for (auto each = failures_.begin(); each != failures_.end();) {
    const bool over = now() > each->second.until + 2 * defaults::failed_pod_longest;
    each = over ? failures_.erase(each) : std::next(each);
  }
  enqueue_availability(set().spec().min_ready_seconds());
}

std::unique_ptr<api::body> daemon_set_controller::with_collision() const {
  return add_collision<DaemonSet>(*owner());
}

void daemon_set_controller::create_batch() {
  if (failed()) create_.clear();
  then(&daemon_set_controller::report);
  if (create_.empty()) return;
  const auto count = std::min(create_.size(), defaults::burst);
  if (count < create_.size()) then(&daemon_set_controller::create_batch);
  const auto model = make_pod(set(), hash_);
  for (std::size_t i = 0; i < count; ++i) {
    auto pod = std::make_unique<Pod>(*model);
    require_node(*pod, create_[i]);
    const auto sent = create_named(
        std::move(pod),
        [this](const std::string& name) {
          record(false, "SuccessfulCreate", "Created pod: " + name);
        },
        [this](const std::string& problem) { failed_to_create(problem); });
    if (sent) continue;
    // The other creations would fail as well.
    return failed_to_create(sent.error().message);
  }
  create_.erase(create_.begin(), create_.begin() + static_cast<std::ptrdiff_t>(count));
}

// Recorded once for a sync: all pods fail for the same reason.
void daemon_set_controller::failed_to_create(const std::string& problem) {
  if (!failed()) record(true, "FailedCreate", "Error creating: " + problem);
  retry();
}

void daemon_set_controller::remove_pods(const std::vector<std::string>& keys) {
  for (const auto& key : keys) {
    if (to_remove_ == 0) return enqueue();
    --to_remove_;
    remove_pod(dependents().at(key));
  }
}

void daemon_set_controller::remove_ended(const std::string& node,
                                         const std::vector<std::string>& keys) {
  for (const auto& key : keys) {
    if (to_remove_ == 0) return enqueue();
    const auto& pod = dependents().at(key);
    const bool failed = pod->as<Pod>().status().phase() == "Failed";
    if (failed) {
      auto& before = failures_[node];
      if (now() < before.until) {
        enqueue_in(before.until - now());
        continue;
      }
      before.pause = std::clamp<runtime::duration>(before.pause * 2, defaults::failed_pod_first,
                                                   defaults::failed_pod_longest);
      before.until = now() + before.pause;
    }
    record(failed, failed ? "FailedDaemonPod" : "SucceededDaemonPod",
           fmt::format("Found {} daemon pod {}/{} on node {}, will try to {} it",
                       failed ? "failed" : "succeeded", pod->meta().namespace_(),
                       pod->meta().name(), node, failed ? "kill" : "delete"));
    --to_remove_;
    remove_pod(pod);
  }
}

void daemon_set_controller::remove_pod(const api::object_ptr& pod) {
  if (!asked_.insert(api::key_of(*pod)).second) return;
  remove_dependent(pod, [this, name = pod->meta().name()] {
    record(false, "SuccessfulDelete", "Deleted pod: " + name);
  });
}

// -- status and history ---------------------------------------------------------------------------

void daemon_set_controller::report() {
  const auto counts = count_nodes(nodes());
  auto changed = owner()->copy_as<DaemonSet>();
  auto& status = *changed->mutable_status();
  status.set_observed_generation(owner()->meta().generation());
  status.set_desired_number_scheduled(counts.desired);
  status.set_current_number_scheduled(counts.current);
  status.set_number_misscheduled(counts.misscheduled);
  status.set_number_ready(counts.ready);
  status.set_updated_number_scheduled(counts.updated);
  status.set_number_available(counts.available);
  status.set_number_unavailable(counts.desired - counts.available);
  if (google::protobuf::util::MessageDifferencer::Equals(*changed, set())) return;
  replace(owner(), std::move(changed));
}

void daemon_set_controller::drop_old_revisions(const revision_history& revisions) {
  std::set<std::string, std::less<>> live;
  std::set<std::string, std::less<>> hashes{hash_};
  for (const auto& [key, each] : dependents())
    if (is_pod(*each)) hashes.insert(label_of(*each, hash_label));
  for (const auto& each : revisions.all())
    if (hashes.contains(label_of(*each, hash_label))) live.insert(each->meta().name());
  truncate(revisions, set().spec().revision_history_limit(), live);
}

}  // namespace troupe::actors::daemon_sets

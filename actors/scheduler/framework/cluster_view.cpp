#include "actors/scheduler/framework/cluster_view.hpp"

#include <algorithm>

#include "api/schema/policy_budget.pb.h"

namespace troupe::actors::scheduler {

// -- node_info ------------------------------------------------------------------------------------

void node_info::read(api::object_ptr object) {
  object_ = std::move(object);
  const auto& node = body();
  unschedulable_ = node.spec().unschedulable();
  hard_taints_ = soft_taints_ = false;
  for (const auto& taint : node.spec().taints()) {
    if (taint.effect() == "PreferNoSchedule") {
      soft_taints_ = true;
    } else {
      hard_taints_ = true;
    }
  }
  const auto zone = labels().find("topology.kubernetes.io/zone");
  zone_ = zone == labels().end() ? nullptr : &zone->second;
  allocatable_ = read_resources(node.status().allocatable());
}

void node_info::add(const pod_info_ptr& pod) {
  pods_.push_back(pod);
  requested_.add(pod->requests);
  scored_.add(pod->scoring_requests);
  ports_.insert(ports_.end(), pod->ports.begin(), pod->ports.end());
}

void node_info::remove(const std::string& pod_key) {
  const auto found = std::find_if(pods_.begin(), pods_.end(),
                                  [&](const pod_info_ptr& p) { return p->key == pod_key; });
  if (found == pods_.end()) return;
  requested_.add((*found)->requests, -1);
  scored_.add((*found)->scoring_requests, -1);
  const bool had_ports = !(*found)->ports.empty();
  *found = std::move(pods_.back());
  pods_.pop_back();
  if (!had_ports) return;
  ports_.clear();
  for (const auto& pod : pods_)
    ports_.insert(ports_.end(), pod->ports.begin(), pod->ports.end());
}

bool ports_are_free(const pod_info& pod, const node_info& node) {
  return std::none_of(pod.ports.begin(), pod.ports.end(), [&](const host_port& wanted) {
    return std::any_of(node.ports().begin(), node.ports().end(),
                       [&](const host_port& taken) { return wanted.conflicts(taken); });
  });
}

// -- from the watcher -----------------------------------------------------------------------------

node_info& cluster_view::node(const std::string& name) {
  auto& found = by_name_[name];
  if (!found) {
    found = std::make_unique<node_info>();
    found->name_ = name;
    if (free_slots_.empty()) {
      free_slots_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.push_back(nullptr);
    }
    found->slot_ = free_slots_.back();
    free_slots_.pop_back();
    slots_[found->slot_] = found.get();
  }
  return *found;
}

void cluster_view::erase(names::iterator gone) {
  const auto slot = gone->second->slot_;
  slots_[slot] = nullptr;
  free_slots_.push_back(slot);
  by_name_.erase(gone);
}

void cluster_view::count_node(const node_info& node, int by) {
  const auto step = static_cast<std::size_t>(by);  // wraps around for -1, as intended
  if (node.unschedulable_) unschedulable_ += step;
  if (node.hard_taints_) hard_taints_ += step;
  if (node.soft_taints_) soft_taints_ += step;
}

void cluster_view::put_node(api::object_ptr object) {
  auto& known = node(object->meta().name());
  if (known.present()) {
    count_node(known, -1);
    drop_images(known);
  } else {
    order_.push_back(&known);
  }
  known.read(std::move(object));
  list_images(known);
  count_node(known, +1);
}

void cluster_view::remove_node(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end() || !found->second->present()) return;
  auto& gone = *found->second;
  count_node(gone, -1);
  order_.erase(std::find(order_.begin(), order_.end(), &gone));
  drop_images(gone);
  gone.object_ = nullptr;
  gone.zone_ = nullptr;
  if (gone.pods_.empty()) erase(found);
}

void cluster_view::put_pod(const pod_info_ptr& pod, const std::string& name) {
  const auto known = places_.find(pod->key);
  if (known != places_.end()) {
    auto& at = known->second;
    if (at.node == name && at.pod->pod->revision() >= pod->pod->revision() && !at.assumed) return;
    remove_pod(pod->key);
  }
  places_[pod->key] = {name, pod, false};
  auto& at = node(name);
  count(*pod, at, +1);
  at.add(pod);
}

void cluster_view::remove_pod(const std::string& key) {
  const auto known = places_.find(key);
  if (known == places_.end()) return;
  nominated_.erase(key);
  const auto at = by_name_.find(known->second.node);
  count(*known->second.pod, *at->second, -1);
  at->second->remove(key);
  if (!at->second->present() && at->second->pods_.empty()) erase(at);
  places_.erase(known);
}

void cluster_view::put_namespace(api::object_ptr ns) {
  const auto& name = ns->meta().name();
  namespaces_[name] = std::move(ns);
}

void cluster_view::remove_namespace(const std::string& name) {
  namespaces_.erase(name);
}

bool cluster_view::selects_namespace(const api::label_selector& selector,
                                     const std::string& name) const {
  static const api::label_map none;
  const auto found = namespaces_.find(name);
  return selector.matches(found == namespaces_.end() ? none : found->second->meta().labels());
}

void cluster_view::put_budget(const api::object_ptr& object) {
  const auto& spec = object->as<api::policy::v1::PodDisruptionBudget>().spec();
  auto selector =
      api::label_selector::from(spec.selector()).value_or(api::label_selector::nothing());
  // Upstream's preemption, unlike its evictions, ignores a budget that selects everything.
  if (selector.everything()) selector = api::label_selector::nothing();
  budgets_[object->meta().namespace_()].insert_or_assign(object->meta().name(),
                                                         budget{object, std::move(selector)});
}

void cluster_view::remove_budget(const api::object& object) {
  const auto found = budgets_.find(object.meta().namespace_());
  if (found == budgets_.end()) return;
  found->second.erase(object.meta().name());
  if (found->second.empty()) budgets_.erase(found);
}

std::vector<api::object_ptr> cluster_view::budgets_of(const pod_info& pod) const {
  const auto& meta = pod.pod->meta();
  std::vector<api::object_ptr> result;
  const auto found = budgets_.find(meta.namespace_());
  // kubernetes: filterPodsWithPDBViolation: no budget selects a pod without labels.
  if (found == budgets_.end() || meta.labels().empty()) return result;
  for (const auto& [name, each] : found->second)
    if (each.selector.matches(meta.labels())) result.push_back(each.object);
  return result;
}

void cluster_view::count(const pod_info& pod, const node_info& on, int by) {
  const auto step = static_cast<std::size_t>(by);  // wraps around for -1, as intended
  if (!pod.required_anti_affinity.empty()) anti_affinity_ += step;
  if (!pod.required_affinity.empty() || !pod.preferred_affinity.empty() ||
      !pod.preferred_anti_affinity.empty())
    affinity_ += step;
  if (pod.controller.empty() || pod.pod->meta().has_deletion_timestamp()) return;
  const auto all = by_controller_.try_emplace(std::string{pod.controller}).first;
  all->second.add(on.slot(), by);
  if (all->second.empty()) by_controller_.erase(all);
}

// -- binds in flight ----------------------------------------------------------------------------

void cluster_view::assume(const pod_info_ptr& pod, const std::string& name) {
  put_pod(pod, name);
  places_.at(pod->key).assumed = true;
}

void cluster_view::forget(const std::string& key) {
  const auto known = places_.find(key);
  if (known != places_.end() && known->second.assumed) remove_pod(key);
}

bool cluster_view::assumed(const std::string& key) const {
  const auto known = places_.find(key);
  return known != places_.end() && known->second.assumed;
}

bool cluster_view::assumed(const pod_info& pod) const {
  const auto known = places_.find(pod.key);
  return known != places_.end() && known->second.assumed &&
         known->second.pod->pod->meta().uid() == pod.pod->meta().uid();
}

bool cluster_view::confirm(const pod_info_ptr& bound, const std::string& name) {
  if (!assumed(*bound)) return false;
  put_pod(bound, name);
  return true;
}

// -- nominations by preemption ------------------------------------------------------------------

void cluster_view::nominate(const pod_info_ptr& pod, const std::string& name) {
  assume(pod, name);
  nominated_[pod->key] = {pod, name};
}

std::vector<cluster_view::nomination> cluster_view::remove_nominations(const pod_info& pod) {
  std::vector<nomination> lifted;
  for (const auto& [key, each] : nominated_)
    if (key == pod.key || each.pod->priority < pod.priority) lifted.push_back(each);
  for (const auto& each : lifted)
    forget(each.pod->key);
  return lifted;
}

// -- queries ------------------------------------------------------------------------------------

const node_info* cluster_view::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() || !found->second->present() ? nullptr : found->second.get();
}

const slot_counts* cluster_view::siblings(const pod_info& pod) const {
  if (pod.controller.empty()) return nullptr;
  const auto found = by_controller_.find(std::string{pod.controller});
  return found == by_controller_.end() ? nullptr : &found->second;
}

void cluster_view::add_by_zone(const slot_counts& pods,
                               std::unordered_map<std::string, std::int64_t>& into) const {
  pods.each([&](std::uint32_t slot, std::int64_t here) {
    const auto* zone = slots_[slot]->zone();
    if (zone == nullptr) return;
    if (const auto known = into.find(*zone); known != into.end()) known->second += here;
  });
}

const cluster_view::image_sizes* cluster_view::image(const std::string& name) const {
  const auto found = images_.find(name);
  return found == images_.end() ? nullptr : &found->second;
}

void cluster_view::list_images(const node_info& on) {
  for (const auto& image : on.body().status().images())
    for (const auto& name : image.names())
      images_[name][&on] = image.size_bytes();
}

void cluster_view::drop_images(const node_info& on) {
  for (const auto& image : on.body().status().images())
    for (const auto& name : image.names())
      if (const auto found = images_.find(name); found != images_.end()) {
        found->second.erase(&on);
        if (found->second.empty()) images_.erase(found);
      }
}

const std::string& cluster_view::node_of(const std::string& pod_key) const {
  static const std::string nowhere;
  const auto known = places_.find(pod_key);
  return known == places_.end() ? nowhere : known->second.node;
}

std::uint64_t cluster_view::bound_at(const std::string& pod_key) const {
  const auto known = places_.find(pod_key);
  return known == places_.end() || known->second.assumed ? 0 : known->second.pod->pod->revision();
}

}  // namespace troupe::actors::scheduler

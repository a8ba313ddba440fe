#include "actors/network/watch/service_informer.hpp"

#include <utility>

#include "actors/core/labels.hpp"
#include "actors/network/defaults.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {
namespace {

// Returns empty if the label is missing, as on slices that other programs manage.
std::string service_named_by(const api::object& slice) {
  const auto& service = label_of(slice, "kubernetes.io/service-name");
  return service.empty() ? service : slice.meta().namespace_() + "/" + service;
}

}  // namespace

std::vector<api::object_ptr> known_service::slice_list() const {
  std::vector<api::object_ptr> list;
  for (const auto& [key, slice] : slices)
    list.push_back(slice);
  return list;
}

void service_informer::follow_services() {
  follow(api::kind_of<api::core::v1::Service>().prefix(),
         [this](const watch_events& m) { on_services(m); });
  follow(api::kind_of<api::discovery::v1::EndpointSlice>().prefix(),
         [this](const watch_events& m) { on_slices(m); });
}

void service_informer::on_services(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    const auto& meta = event.object->meta();
    const auto name = meta.namespace_() + "/" + meta.name();
    services_[name].service = event.type == event_type::deleted ? nullptr : event.object;
    changed_.insert(name);
  }
  schedule_apply();
}

void service_informer::on_slices(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    const auto key = api::key_of(*event.object);
    const auto name = service_named_by(*event.object);
    const bool gone = event.type == event_type::deleted || name.empty();
    const auto before = service_of_.find(key);
    if (before != service_of_.end() && (gone || before->second != name)) drop_slice(key);
    if (gone) continue;
    service_of_[key] = name;
    services_[name].slices[key] = event.object;
    changed_.insert(name);
  }
  schedule_apply();
}

void service_informer::drop_slice(const std::string& key) {
  const auto found = service_of_.find(key);
  services_[found->second].slices.erase(key);
  changed_.insert(found->second);
  service_of_.erase(found);
}

void service_informer::apply_all() {
  for (const auto& [name, known] : services_)
    changed_.insert(name);
  schedule_apply();
}

void service_informer::apply_others() {
  others_changed_ = true;
  schedule_apply();
}

void service_informer::schedule_apply() {
  const bool changed = !applied_ || !changed_.empty() || others_changed_;
  if (!synced() || !changed || apply_.pending()) return;
  apply_ = after(network_defaults::coalescing, [this] { apply_now(); });
}

void service_informer::apply_now() {
  applied_ = true;
  others_changed_ = false;
  const auto changed = std::exchange(changed_, {});
  apply(changed);
  for (const auto& name : changed) {
    const auto found = services_.find(name);
    if (found != services_.end() && !found->second.service && found->second.slices.empty())
      services_.erase(found);
  }
}

}  // namespace troupe::actors

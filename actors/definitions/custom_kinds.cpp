#include "actors/definitions/custom_kinds.hpp"

#include "actors/core/log.hpp"
#include "api/definitions/served_kinds.hpp"
#include "api/schema/apiextensions_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::apiextensions::v1::CustomResourceDefinition;

namespace {

bool is_definition(const persistence::change& each) {
  return &each.object->kind() == &api::kind_of<CustomResourceDefinition>();
}

}  // namespace

custom_kinds::~custom_kinds() {
  for (const auto& [name, each] : served_) {
    const auto& spec = each.definition->as<CustomResourceDefinition>().spec();
    api::scheme::instance().remove(spec.group(), spec.names().plural());
  }
}

void custom_kinds::load(const persistence::snapshot& state) {
  state.scan(api::kind_of<CustomResourceDefinition>().prefix(), {},
             [&](std::string_view, const api::object_ptr& found) {
               put(found);
               return true;
             });
}

void custom_kinds::take(const std::vector<persistence::change>& changes) {
  for (const auto& each : changes) {
    if (!is_definition(each)) continue;
    if (each.type == persistence::change_type::removed)
      remove(*each.object);
    else
      put(each.object);
  }
}

void custom_kinds::put(const api::object_ptr& definition) {
  const auto& name = definition->meta().name();
  const auto& now = definition->as<CustomResourceDefinition>();
  if (!api::definitions::is_served(now)) return;
  const auto found = served_.find(name);
  auto since = definition->revision();
  if (found != served_.end()) {
    const auto& was = found->second.definition->as<CustomResourceDefinition>();
    if (api::definitions::serve_same_kinds(now, was)) return;
    if (api::definitions::have_same_schemas(now, was)) since = found->second.since;
  }
  const auto made = api::scheme::instance().put(api::definitions::served_kinds(definition, since));
  if (!made) {
    log().warn("custom kind {} is not served: {}", name, made.error().message);
    return;
  }
  served_[name] = {definition, since};
  if (now.metadata().has_deletion_timestamp())
    log().info("custom kind {} is being deleted: no objects can be created", name);
  else
    log().info("custom kind {} is served from revision {}", name, definition->revision());
}

void custom_kinds::remove(const api::object& definition) {
  if (served_.erase(definition.meta().name()) == 0) return;
  const auto& spec = definition.as<CustomResourceDefinition>().spec();
  api::scheme::instance().remove(spec.group(), spec.names().plural());
  log().info("custom kind {} is no longer served", definition.meta().name());
}

}  // namespace troupe::actors

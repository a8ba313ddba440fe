// Shared parts of the admission tests: plugins, objects, and a state.
#pragma once

#include <memory>
#include <string>

#include "actors/write/admission/plugins.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_pod.pb.h"
#include "support/cluster.hpp"

namespace troupe::test {

inline cluster_options without_controllers() {
  cluster_options options;
  options.plane.controllers = false;
  return options;
}

inline api::core::v1::Pod web_pod() {
  api::core::v1::Pod pod;
  pod.mutable_metadata()->set_name("web");
  pod.mutable_metadata()->set_namespace_("default");
  auto& container = *pod.mutable_spec()->add_containers();
  container.set_name("c");
  container.set_image("web:1");
  return pod;
}

inline std::unique_ptr<api::core::v1::ConfigMap> config_map(const std::string& name,
                                                            const std::string& value = {}) {
  auto made = std::make_unique<api::core::v1::ConfigMap>();
  made->mutable_metadata()->set_name(name);
  made->mutable_metadata()->set_namespace_("default");
  if (!value.empty()) (*made->mutable_data())["value"] = value;
  return made;
}

// One plugin and the write that it checks.
struct admission_case {
  actors::admission::plugin_ptr plugin;
  persistence::snapshot state;
  actors::admission::operation op = actors::admission::operation::create;

  actors::admission::attributes of(const api::body* before, const api::body* now) const {
    const auto& type = *(now != nullptr ? now : before)->GetDescriptor();
    return {.state = state,
            .kind = api::kind_of_type(type),
            .op = op,
            .subresource = {},
            .by = actors::admission::controllers(),
            .before = before,
            .now = now};
  }
  actors::admission::verdict mutate(api::body& now, persistence::transaction& also) const {
    return plugin->mutate(of(nullptr, &now), now, also);
  }
  actors::admission::verdict mutate(api::body& now) const {
    persistence::transaction also;
    return mutate(now, also);
  }
  actors::admission::verdict validate(const api::body& now) const {
    return plugin->validate(of(nullptr, &now));
  }
  actors::admission::verdict remove(const api::body& before) const {
    return plugin->validate(of(&before, nullptr));
  }
};

}  // namespace troupe::test

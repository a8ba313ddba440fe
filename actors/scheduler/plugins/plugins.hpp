// The plugins of this program (plugins.def); each is described at its
// definition.
#pragma once

#include <memory>

#include "actors/scheduler/framework/framework.hpp"

namespace troupe::api::core::v1 {
class Taint;
}

namespace troupe::actors::scheduler {

#define TROUPE_PLUGIN(name, function) std::unique_ptr<plugin> make_##function();
#include "actors/scheduler/plugins/plugins.def"
#undef TROUPE_PLUGIN

// The first taint of the node that the pod does not tolerate; null if there is none.
const api::core::v1::Taint* untolerated_taint(const pod_info& pod, const node_info& node);

}  // namespace troupe::actors::scheduler

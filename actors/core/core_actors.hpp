// The three actors that all others use: writer, watcher and recorder of the control plane, or the
// gateway in their place on a joined node. Valid as long as their control plane or gateway.
#pragma once

#include "runtime/actor_ref.hpp"

namespace troupe::actors {

struct core_actors {
  runtime::actor_ref writer;
  runtime::actor_ref watcher;
  runtime::actor_ref recorder;
};

}  // namespace troupe::actors

// The handles that others need; valid as long as the control plane.
#pragma once

#include "runtime/actor_ref.hpp"

namespace troupe::actors {

struct doors {
  runtime::actor_ref writer;
  runtime::actor_ref watcher;
  runtime::actor_ref recorder;
};

}  // namespace troupe::actors

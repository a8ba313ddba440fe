// The registry of actors that only a leading control plane runs: a new actor is a folder and one
// line in leading_actors.cpp. A term of leadership starts them from here, and the console and the
// metrics list them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/control_plane/control_plane.hpp"
#include "actors/quota/quota_ledger.hpp"

namespace troupe::actors {

// The context of one term. Store and options must outlive the actors.
struct leading_context {
  runtime::actor_system& system;
  const persistence::store& store;
  actors::core_actors core;  // with the term's writer
  const control_plane_options& options;
  std::shared_ptr<quota::quota_ledger> quotas;
  runtime::actor_ref scheduler = {};  // null before it is started
};

struct leading_actor {
  std::string kind;     // of the actor, as the console shows it
  std::string name;     // kind and name together are unique
  std::string purpose;  // one line, for the console
  // Starts the actor; returns null if the options exclude it.
  std::function<runtime::actor_ref(leading_context&)> start;
};

// In the order of their start: actors that others use come first, the supervisors of the
// controllers (actors/controllers/registry.hpp) last. They stop in reverse order.
const std::vector<leading_actor>& leading_actors();

}  // namespace troupe::actors

// The actors that only a leading control plane runs, as data: a new one is a folder and one line in
// leading_actors.cpp. A term of leadership starts them, the console and the metrics list them, from
// here.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actors/control_plane/control_plane.hpp"
#include "actors/quota/quota_ledger.hpp"

namespace troupe::actors {

// Of one term. Store and options outlive the actors.
struct leading_context {
  runtime::actor_system& system;
  const persistence::store& store;
  actors::core_actors core;  // with the writer of the term
  const control_plane_options& options;
  std::shared_ptr<quota::quota_ledger> quotas;
  runtime::actor_ref scheduler = {};  // null before it is started
};

struct leading_actor {
  std::string kind;     // of actor, as the console shows it
  std::string name;     // kind and name together are unique
  std::string purpose;  // one line, for people
  // Starts it; a null reference where the options leave it out.
  std::function<runtime::actor_ref(leading_context&)> start;
};

// In the order in which they are started: what is of use to others first, the supervisors of the
// controllers (actors/controllers/registry.hpp) last. They are stopped in the opposite order.
const std::vector<leading_actor>& leading_actors();

}  // namespace troupe::actors

// The console of this machine, for requests of control planes over links. Gateways may use the slot
// until the last actor has ended, longer than the console exists. Thread safe.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "actors/link/node_requests.hpp"
#include "runtime/actor_system.hpp"
#include "server/console/handlers/node_console.hpp"

namespace troupe::tools {

class console_slot {
 public:
  // The system must outlive the console. Returns the console, which lives until close().
  server::node_console& open(runtime::actor_system& system, const std::string& node);
  void close();
  void ask(actors::console_request request, std::function<void(actors::console_view)> done);

 private:
  std::mutex mutex_;
  std::unique_ptr<server::node_console> console_;
};

// For gateway_options::console.
std::function<void(actors::console_request, std::function<void(actors::console_view)>)> answers_of(
    std::shared_ptr<console_slot> slot);

}  // namespace troupe::tools

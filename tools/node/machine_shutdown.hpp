// Shutdown of the whole machine: systemd stops this program among others. At any other stop of the
// program pods keep running (docs/decisions/0070-shutdown-of-a-machine.md).
#pragma once

#include <chrono>
#include <string>

#include "config/fwd.hpp"
#include "runtime/actor_system.hpp"
#include "tools/node/node_parts.hpp"

namespace troupe::tools {

// Whether systemd is stopping the machine. False if systemd cannot be queried.
bool machine_stops(const std::string& manager = "unix:path=/run/systemd/private");

// Additional time that the process may take to end.
std::chrono::milliseconds shutdown_limit(const config::kubelet_config& of);

// If pods have a grace period and the machine stops: asks systemd to wait, and ends the pods.
void shut_down_with_machine(const config::kubelet_config& of, node_parts& parts);

// Ends the pods of the machine's kubelet, if it has one, and waits until they have ended.
void end_pods_at_shutdown(runtime::actor_system& system, const config::kubelet_config& of);

}  // namespace troupe::tools

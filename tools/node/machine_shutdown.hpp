// The end of the whole machine: systemd stops this program as one of many. Pods outlive the program
// at any other stop (docs/decisions/0070-shutdown-of-a-machine.md).
#pragma once

#include <chrono>
#include <string>

#include "config/fwd.hpp"
#include "runtime/actor_system.hpp"
#include "tools/node/node_parts.hpp"

namespace troupe::tools {

// Whether systemd is stopping the machine. False where it cannot be asked.
bool machine_stops(const std::string& manager = "unix:path=/run/systemd/private");

// So much longer the process may take to end.
std::chrono::milliseconds shutdown_limit(const config::kubelet_config& of);

// Where pods have time to end, and the machine stops: tells systemd to wait, and ends them.
void shut_down_with_machine(const config::kubelet_config& of, node_parts& parts);

// Ends the pods of the machine's kubelet, if it has one, and waits for that.
void end_pods_at_shutdown(runtime::actor_system& system, const config::kubelet_config& of);

}  // namespace troupe::tools

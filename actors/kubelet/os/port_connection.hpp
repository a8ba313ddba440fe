// A connection to a port of this machine, or of another one, as a stream (runtime/streams.hpp).
// Thread safe; all work is done on the loop's thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/os/event_loop.hpp"
#include "actors/kubelet/runtime/streams.hpp"

namespace troupe::actors {

// Tries 127.0.0.1, then ::1. Answered within `patience`, on the loop's thread. The error has both
// system errors: "IPv4: connection refused IPv6: …".
void connect_port(
    std::shared_ptr<event_loop> loop, int port, std::chrono::milliseconds patience,
    std::function<void(tl::expected<std::unique_ptr<port_stream>, std::string>)> done);

// The same for a numeric address of any machine. May answer within the call.
void connect_address(
    std::shared_ptr<event_loop> loop, const std::string& address, int port,
    std::chrono::milliseconds patience,
    std::function<void(tl::expected<std::unique_ptr<port_stream>, std::string>)> done);

}  // namespace troupe::actors

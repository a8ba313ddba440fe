// A connection with a port of this machine, or of another one, as a stream (runtime/streams.hpp).
// Thread safe; all of it happens on the thread of the loop.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "actors/kubelet/os/event_loop.hpp"
#include "actors/kubelet/runtime/streams.hpp"

namespace troupe::actors {

// 127.0.0.1, then ::1 where the first cannot be had. Answered within `patience`, on the loop's
// thread. The error says for both what the system refused: "IPv4: connection refused IPv6: …".
void connect_port(
    std::shared_ptr<event_loop> loop, int port, std::chrono::milliseconds patience,
    std::function<void(tl::expected<std::unique_ptr<port_stream>, std::string>)> done);

// The same for an address in numbers, of whatever machine. May answer at once.
void connect_address(
    std::shared_ptr<event_loop> loop, const std::string& address, int port,
    std::chrono::milliseconds patience,
    std::function<void(tl::expected<std::unique_ptr<port_stream>, std::string>)> done);

}  // namespace troupe::actors

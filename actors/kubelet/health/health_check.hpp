// The check of a probe or a hook, with port names and addresses resolved. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

struct exec_action {
  std::vector<std::string> command;
};

struct http_get_action {
  std::string host;
  int port = 0;
  std::string path = "/";
  bool tls = false;  // the certificate is not verified
  std::vector<std::pair<std::string, std::string>> headers = {};
  // For a hook: any status is a success, and a server without TLS is asked again in plain HTTP.
  bool hook = false;
};

struct tcp_socket_action {
  std::string host;
  int port = 0;
};

struct grpc_action {
  std::string host;
  int port = 0;
  std::string service = {};
};

using health_check = std::variant<exec_action, http_get_action, tcp_socket_action, grpc_action>;

// The error names the port that is missing in the container.
tl::expected<health_check, std::string> health_check_of(const api::core::v1::ProbeHandler& handler,
                                                        const api::core::v1::Container& container,
                                                        const std::string& pod_ip);

// For a hook that runs a command or sends a request; other hooks have no check.
tl::expected<health_check, std::string> health_check_of(
    const api::core::v1::LifecycleHandler& handler, const api::core::v1::Container& container,
    const std::string& pod_ip);

// Whether the probe has an action that can be run.
bool supported(const api::core::v1::Probe& probe);

enum class check_status : std::uint8_t { success, failure, unknown };

// The result of a check.
struct health_result {
  check_status status = check_status::unknown;
  std::string message = {};  // output or error; for `unknown`: why the check could not run
  bool warning = false;      // a success whose message an event shows
};

// The part of such a message that an event shows.
std::string event_text(std::string_view message);

}  // namespace troupe::actors

#include "actors/kubelet/health/health_check.hpp"

#include <fmt/format.h>

#include <charconv>

#include "actors/kubelet/defaults.hpp"
#include "api/values/utf8.hpp"

namespace troupe::actors {

namespace {

using namespace api::core::v1;
using answer = tl::expected<health_check, std::string>;

tl::expected<int, std::string> port_of(const api::intstr::IntOrString& port,
                                       const Container& container) {
  int number = port.int_val();
  if (port.type() == 1) {
    const auto& name = port.str_val();
    number = 0;
    for (const auto& each : container.ports())
      if (each.name() == name) number = each.container_port();
    const auto* end = name.data() + name.size();
    if (number == 0 && std::from_chars(name.data(), end, number).ptr != end) number = 0;
    if (number == 0)
      return tl::make_unexpected(
          fmt::format("container \"{}\" has no port \"{}\"", container.name(), name));
  }
  if (number < 1 || number > 65535)
    return tl::make_unexpected(fmt::format("{} is not a port number", number));
  return number;
}

answer http_of(const HTTPGetAction& action, const Container& container, const std::string& pod_ip) {
  const auto port = port_of(action.port(), container);
  if (!port) return tl::make_unexpected(port.error());
  http_get_action check{.host = action.host().empty() ? pod_ip : action.host(),
                        .port = *port,
                        .path = action.path().empty() ? "/" : action.path(),
                        .tls = action.scheme() == "HTTPS"};
  if (check.path.front() != '/') check.path.insert(0, "/");
  for (const auto& header : action.http_headers())
    check.headers.emplace_back(header.name(), header.value());
  return check;
}

exec_action exec_of(const ExecAction& action) {
  return {{action.command().begin(), action.command().end()}};
}

}  // namespace

answer health_check_of(const ProbeHandler& handler, const Container& container,
                       const std::string& pod_ip) {
  if (handler.has_exec()) return exec_of(handler.exec());
  if (handler.has_http_get()) return http_of(handler.http_get(), container, pod_ip);
  if (handler.has_grpc())
    return grpc_action{pod_ip, handler.grpc().port(), handler.grpc().service()};
  const auto& tcp = handler.tcp_socket();
  const auto port = port_of(tcp.port(), container);
  if (!port) return tl::make_unexpected(port.error());
  return tcp_socket_action{tcp.host().empty() ? pod_ip : tcp.host(), *port};
}

answer health_check_of(const LifecycleHandler& handler, const Container& container,
                       const std::string& pod_ip) {
  if (handler.has_exec()) return exec_of(handler.exec());
  auto check = http_of(handler.http_get(), container, pod_ip);
  if (check) std::get<http_get_action>(*check).hook = true;
  return check;
}

std::string event_text(std::string_view message) {
  return std::string{
      message.substr(0, api::utf8_prefix(message, kubelet_defaults::event_text_bytes))};
}

bool supported(const Probe& probe) {
  const auto& handler = probe.handler();
  return handler.has_exec() || handler.has_http_get() || handler.has_tcp_socket() ||
         handler.has_grpc();
}

}  // namespace troupe::actors

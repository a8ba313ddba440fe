// Probes and lifecycle hooks of containers.
#include "api/validation/checks.hpp"

namespace troupe::api::validation {
namespace {

using namespace core::v1;

void check_port(field_errors& out, const intstr::IntOrString& port) {
  if (port.type() == 0)
    for (const auto& complaint : check_port_number(port.int_val()))
      out.invalid("port", port.int_val(), complaint);
  else
    out.each("port", port.str_val(), check_port_name(port.str_val()));
}

void check_http(field_errors& out, const HTTPGetAction& action) {
  const auto step = out.at.field("httpGet");
  if (action.path().empty()) out.required("path");
  check_port(out, action.port());
  for (int i = 0; i < action.http_headers_size(); ++i) {
    const auto& name = action.http_headers(i).name();
    const auto inner = out.at.item("httpHeaders", i);
    if (!name.empty()) out.each({}, name, check_http_header_name(name));
  }
}

template <class Handler>
void check_handler(field_errors& out, const Handler& handler) {
  if (handler.has_exec() && handler.exec().command().empty()) {
    const auto step = out.at.field("exec");
    out.required("command");
  }
  if (handler.has_http_get()) check_http(out, handler.http_get());
  if (handler.has_tcp_socket()) {
    const auto step = out.at.field("tcpSocket");
    check_port(out, handler.tcp_socket().port());
  }
}

void check_probe(field_errors& out, std::string_view field, const Probe& probe, bool restarts) {
  const auto step = out.at.field(field);
  check_handler(out, probe.handler());
  const auto grace = probe.termination_grace_period_seconds();
  if (restarts && probe.has_termination_grace_period_seconds() && grace < 1)
    out.invalid("terminationGracePeriodSeconds", grace, "must be greater than 0");
  if (restarts && probe.success_threshold() != 1)
    out.invalid("successThreshold", probe.success_threshold(), "must be 1");
  if (!restarts && probe.has_termination_grace_period_seconds())
    out.invalid("terminationGracePeriodSeconds", grace, "must not be set for readinessProbes");
}

void check_hooks(field_errors& out, const Lifecycle& lifecycle) {
  const auto step = out.at.field("lifecycle");
  if (lifecycle.has_post_start()) {
    const auto inner = out.at.field("postStart");
    check_handler(out, lifecycle.post_start());
  }
  if (lifecycle.has_pre_stop()) {
    const auto inner = out.at.field("preStop");
    check_handler(out, lifecycle.pre_stop());
  }
}

}  // namespace

void check_probes(field_errors& out, const Container& container, bool may_have) {
  if (!may_have) {
    constexpr std::string_view detail =
        "may not be set for init containers without restartPolicy=Always";
    if (container.has_lifecycle()) out.forbidden("lifecycle", detail);
    if (container.has_liveness_probe()) out.forbidden("livenessProbe", detail);
    if (container.has_readiness_probe()) out.forbidden("readinessProbe", detail);
    if (container.has_startup_probe()) out.forbidden("startupProbe", detail);
    return;
  }
  if (container.has_lifecycle()) check_hooks(out, container.lifecycle());
  if (container.has_liveness_probe())
    check_probe(out, "livenessProbe", container.liveness_probe(), true);
  if (container.has_readiness_probe())
    check_probe(out, "readinessProbe", container.readiness_probe(), false);
  if (container.has_startup_probe())
    check_probe(out, "startupProbe", container.startup_probe(), true);
}

}  // namespace troupe::api::validation

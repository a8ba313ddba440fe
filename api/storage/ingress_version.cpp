// Ingress in networking.k8s.io/v1beta1 and in extensions/v1beta1, which are equal.
#include "api/schema/networking_v1.pb.h"
#include "api/storage/ingress_v1beta1.pb.h"
#include "api/storage/version_shapes.hpp"

namespace troupe::api {

namespace {

namespace old = storage::ingress_v1beta1;
namespace hub = networking::v1;

constexpr int is_text = 1;  // intstr.IntOrString.type

void read_backend(const old::IngressBackend& from, hub::IngressBackend& into) {
  if (from.has_resource()) *into.mutable_resource() = from.resource();
  if (from.service_name().empty()) return;
  auto& service = *into.mutable_service();
  service.set_name(from.service_name());
  const auto& port = from.service_port();
  if (port.type() == is_text)
    service.mutable_port()->set_name(port.str_val());
  else if (port.int_val() != 0)
    service.mutable_port()->set_number(port.int_val());
}

void write_backend(const hub::IngressBackend& from, old::IngressBackend& into) {
  if (from.has_resource()) *into.mutable_resource() = from.resource();
  if (!from.has_service()) return;
  into.set_service_name(from.service().name());
  const auto& port = from.service().port();
  if (!port.name().empty()) {
    into.mutable_service_port()->set_type(is_text);
    into.mutable_service_port()->set_str_val(port.name());
  } else if (port.number() != 0) {
    into.mutable_service_port()->set_int_val(port.number());
  }
}

// For both directions: field names are equal except for the default backend.
template <class From, class Into, class Backend>
void copy(const From& from, Into& into, Backend copy_backend) {
  *into.mutable_metadata() = from.metadata();
  if (from.has_status()) *into.mutable_status() = from.status();
  if (!from.has_spec()) return;
  auto& spec = *into.mutable_spec();
  *spec.mutable_tls() = from.spec().tls();
  if (from.spec().has_ingress_class_name())
    spec.set_ingress_class_name(from.spec().ingress_class_name());
  for (const auto& rule : from.spec().rules()) {
    auto& next = *spec.add_rules();
    if (rule.has_host()) next.set_host(rule.host());
    if (!rule.ingress_rule_value().has_http()) continue;
    auto& http = *next.mutable_ingress_rule_value()->mutable_http();
    for (const auto& path : rule.ingress_rule_value().http().paths()) {
      auto& added = *http.add_paths();
      if (path.has_path()) added.set_path(path.path());
      if (path.has_path_type()) added.set_path_type(path.path_type());
      if (path.has_backend()) copy_backend(path.backend(), *added.mutable_backend());
    }
  }
}

void read(const body& stored, body& home) {
  const auto& from = static_cast<const old::Ingress&>(stored);
  auto& into = static_cast<hub::Ingress&>(home);
  copy(from, into, read_backend);
  if (from.spec().has_backend())
    read_backend(from.spec().backend(), *into.mutable_spec()->mutable_default_backend());
}

void write(const body& home, body& stored) {
  const auto& from = static_cast<const hub::Ingress&>(home);
  auto& into = static_cast<old::Ingress&>(stored);
  copy(from, into, write_backend);
  if (from.spec().has_default_backend())
    write_backend(from.spec().default_backend(), *into.mutable_spec()->mutable_backend());
}

}  // namespace

const version_shape& ingress_v1beta1_shape() {
  static const version_shape made{*old::Ingress::descriptor(), &read, &write};
  return made;
}

}  // namespace troupe::api

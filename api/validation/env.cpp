// Environment variables of containers, and the pod fields that they may reference.
#include <algorithm>
#include <array>

#include "api/validation/checks.hpp"

namespace troupe::api::validation {
namespace {

using namespace core::v1;

constexpr std::array<std::string_view, 9> fields_for_env = {"metadata.name",
                                                            "metadata.namespace",
                                                            "metadata.uid",
                                                            "spec.nodeName",
                                                            "spec.serviceAccountName",
                                                            "status.hostIP",
                                                            "status.hostIPs",
                                                            "status.podIP",
                                                            "status.podIPs"};
constexpr std::array<std::string_view, 6> resource_fields = {
    "limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
    "requests.cpu", "requests.ephemeral-storage", "requests.memory"};

template <class List>
bool holds(const List& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

void check_field_ref(field_errors& out, const ObjectFieldSelector& ref) {
  const auto step = out.at.field("fieldRef");
  const std::string_view path = ref.field_path();
  if (path.empty()) return;  // the schema's rule reports it
  const auto open = path.find("['");
  if (open != std::string_view::npos && path.ends_with("']")) {
    const auto name = path.substr(0, open);
    const auto key = path.substr(open + 2, path.size() - open - 4);
    if (name == "metadata.annotations" || name == "metadata.labels")
      out.each({}, key, check_qualified_name(key));
    else
      out.invalid({}, name, "does not support subscript");
  } else if (!holds(fields_for_env, path)) {
    out.unsupported("fieldPath", path, fields_for_env);
  }
}

void check_resource_ref(field_errors& out, const ResourceFieldSelector& ref) {
  const auto step = out.at.field("resourceFieldRef");
  const auto& name = ref.resource();
  if (name.empty() || holds(resource_fields, name) || name.starts_with("limits.hugepages-") ||
      name.starts_with("requests.hugepages-"))
    return;
  out.unsupported("resource", name, resource_fields);
}

template <class Ref>
void check_name(field_errors& out, std::string_view field, const Ref& ref, bool name_required) {
  const auto step = out.at.field(field);
  const auto& name = ref.local_object_reference().name();
  if (name.empty() && name_required)
    out.required("name");
  else
    out.each("name", name, check_dns_subdomain(name));
}

void check_source(field_errors& out, const EnvVar& variable) {
  const auto step = out.at.field("valueFrom");
  const auto& from = variable.value_from();
  const int sources = from.has_field_ref() + from.has_resource_field_ref() +
                      from.has_config_map_key_ref() + from.has_secret_key_ref() +
                      from.has_file_key_ref();
  if (from.has_field_ref()) check_field_ref(out, from.field_ref());
  if (from.has_resource_field_ref()) check_resource_ref(out, from.resource_field_ref());
  if (from.has_config_map_key_ref())
    check_name(out, "configMapKeyRef", from.config_map_key_ref(), false);
  if (from.has_secret_key_ref()) check_name(out, "secretKeyRef", from.secret_key_ref(), false);
  if (sources == 0)
    out.invalid({}, "",
                "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                "`secretKeyRef` or `fileKeyRef`");
  else if (!variable.value().empty())
    out.invalid({}, "", "may not be specified when `value` is not empty");
  else if (sources > 1)
    out.invalid({}, "", "may not have more than one field specified at a time");
}

}  // namespace

void check_env(field_errors& out, const Container& container) {
  for (int i = 0; i < container.env_size(); ++i) {
    const auto step = out.at.item("env", i);
    if (container.env(i).has_value_from()) check_source(out, container.env(i));
  }
  for (int i = 0; i < container.env_from_size(); ++i) {
    const auto step = out.at.item("envFrom", i);
    const auto& from = container.env_from(i);
    if (!from.prefix().empty()) out.each("prefix", from.prefix(), check_env_name(from.prefix()));
    if (from.has_config_map_ref()) check_name(out, "configMapRef", from.config_map_ref(), true);
    if (from.has_secret_ref()) check_name(out, "secretRef", from.secret_ref(), true);
    if (!from.has_config_map_ref() && !from.has_secret_ref())
      out.invalid({}, "", "must specify one of: `configMapRef` or `secretRef`");
    else if (from.has_config_map_ref() && from.has_secret_ref())
      out.invalid({}, "", "may not have more than one field specified at a time");
  }
}

}  // namespace troupe::api::validation

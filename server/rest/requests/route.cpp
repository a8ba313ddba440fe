#include "server/rest/requests/route.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "api/kind_row.hpp"
#include "api/scheme.hpp"
#include "server/access/public_paths.hpp"

namespace troupe::server {
namespace {

constexpr std::array<std::pair<verb, std::string_view>, 8> verb_names = {{
    {verb::get, "get"},
    {verb::list, "list"},
    {verb::watch, "watch"},
    {verb::create, "create"},
    {verb::update, "update"},
    {verb::patch, "patch"},
    {verb::remove, "delete"},
    {verb::remove_all, "deletecollection"},
}};

// Returns "apps" of "/apps/v1", and removes it with its slash.
std::string_view step(std::string_view& path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  const auto end = std::min(path.find('/'), path.size());
  const auto out = path.substr(0, end);
  path.remove_prefix(end);
  return out;
}

route parse_path(std::string_view path) {
  route out;
  if (path.ends_with('/')) path.remove_suffix(1);
  if (path.empty()) out.at = route::place::root;
  if (path == issuer_path) out.at = route::place::issuer;
  if (path == issuer_keys_path) out.at = route::place::keys;
  if (out.at != route::place::unknown) return out;
  const auto first = step(path);
  if (first == "api" || first == "apis") {
    const bool grouped = first == "apis";
    if (grouped) out.group = step(path);
    out.version = step(path);
    if (!path.empty()) return out;
    if (!out.version.empty())
      out.at = route::place::resources;
    else if (grouped)
      out.at = out.group.empty() ? route::place::groups : route::place::group;
    else
      out.at = route::place::versions;
  } else if (first == "openapi") {
    const auto form = step(path);
    if (form == "v2" && path.empty()) out.at = route::place::openapi_v2;
    if (form == "v3") out.at = route::place::openapi_v3;
    out.name = path.substr(path.empty() ? 0 : 1);
  } else if (path.empty() && (first == "swagger-2.0.0.pb-v1" || first == "swagger.json")) {
    out.at = route::place::openapi_v2;
  }
  return out;
}

const api::kind_part* part_of(const api::kind_info& kind, std::string_view subresource) {
  const auto parts = kind.row().parts;
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const api::kind_part& part) {
    return part.name == subresource;
  });
  return found == parts.end() ? nullptr : &*found;
}

// Whether the subresource accepts subpaths and any method.
bool is_deep(const api::kind_info& kind, std::string_view subresource) {
  const auto* part = part_of(kind, subresource);
  return part != nullptr && part->deep;
}

}  // namespace

std::string_view to_string(verb verb) noexcept {
  return verb_names[static_cast<std::size_t>(verb)].second;
}

bool mutates(verb verb) noexcept {
  return verb != verb::get && verb != verb::list && verb != verb::watch;
}

route route_of(const request_info& info) {
  if (!info.is_resource) return parse_path(info.path);
  route out;
  out.group = info.group;
  out.version = info.version;
  out.kind = api::scheme::instance().find_resource(info.group, info.version, info.resource);
  if (info.parts.size() > 1) out.name = info.parts[1];
  if (info.parts.size() > 2) out.subresource = info.parts[2];
  // The namespace of a Namespace object is its own name.
  if (info.resource != "namespaces") out.ns = info.namespace_name;
  if (out.kind == nullptr) return out;
  if (info.parts.size() > 3 && !is_deep(*out.kind, out.subresource)) return out;
  if (!out.ns.empty() && !out.kind->namespaced()) return out;
  // An object in a namespace needs a namespace.
  if (!out.name.empty() && out.ns.empty() && out.kind->namespaced()) return out;
  if (!out.subresource.empty() && !has_subresource(*out.kind, out.subresource)) return out;
  out.at = route::place::objects;
  return out;
}

std::optional<verb> verb_of(const route& route, const request_info& info) noexcept {
  const auto found = std::find_if(verb_names.begin(), verb_names.end(),
                                  [&](const auto& known) { return known.second == info.verb; });
  if (found == verb_names.end()) return std::nullopt;
  const bool one = !route.name.empty();
  const bool part = !route.subresource.empty();
  // A collection of all namespaces can be read but not written.
  const bool nowhere = route.kind != nullptr && route.kind->namespaced() && route.ns.empty();
  switch (found->first) {
    case verb::create:
      // A name in the path is only allowed with a subresource.
      if (one != part || nowhere) return std::nullopt;
      break;
    case verb::update:
    case verb::patch:
      if (!one) return std::nullopt;
      break;
    case verb::remove:
      if (part && (route.kind == nullptr || !is_deep(*route.kind, route.subresource)))
        return std::nullopt;
      break;
    case verb::watch:
      if (part) return std::nullopt;
      break;
    case verb::get:
    case verb::list:
      // A selector for one name does not turn a list into a get.
      return one ? verb::get : verb::list;
    case verb::remove_all:
      if (nowhere) return std::nullopt;
      break;
  }
  return found->first;
}

bool has_subresource(const api::kind_info& kind, std::string_view subresource) {
  if (subresource == "status") return kind.options().has_status();
  if (subresource == "scale") return kind.options().has_scale();
  return part_of(kind, subresource) != nullptr;
}

}  // namespace troupe::server

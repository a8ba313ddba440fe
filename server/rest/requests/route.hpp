// The route of a request: a place, a kind and a verb of this server. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/kind.hpp"
#include "server/http/request_info.hpp"

namespace troupe::server {

// The verbs of the API. `remove` and `remove_all` are "delete" and "deletecollection".
enum class verb : std::uint8_t { get, list, watch, create, update, patch, remove, remove_all };
std::string_view to_string(verb verb) noexcept;
bool mutates(verb verb) noexcept;

struct route {
  enum class place : std::uint8_t {
    unknown,     // no such path
    root,        // "/": the list of paths
    versions,    // "/api"
    groups,      // "/apis"
    group,       // "/apis/apps"
    resources,   // "/api/v1", "/apis/apps/v1"
    openapi_v2,  // "/openapi/v2" and its older names
    openapi_v3,  // "/openapi/v3", "/openapi/v3/apis/apps/v1": `name` is the rest after v3
    issuer,      // "/.well-known/openid-configuration"
    keys,        // "/openid/v1/jwks"
    objects,     // a resource: `kind` and the members below
  };

  place at = place::unknown;
  std::string_view group;
  std::string_view version;
  api::kind_handle kind;
  std::string_view ns;           // empty: all namespaces, or a cluster-scoped kind
  std::string_view name;         // empty: the collection
  std::string_view subresource;  // "status", "log" ...
};

// Has views into `info`.
route route_of(const request_info& info);

// Nullopt if the method is not allowed at that place.
std::optional<verb> verb_of(const route& route, const request_info& info) noexcept;

// Whether the kind has that subresource ("status" ...).
bool has_subresource(const api::kind_info& kind, std::string_view subresource);

}  // namespace troupe::server

// The target of a request, in terms of what this program serves: a place, a kind, a verb. Pure.
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
    unknown,     // nothing is served there
    root,        // "/": the paths that are
    versions,    // "/api"
    groups,      // "/apis"
    group,       // "/apis/apps"
    resources,   // "/api/v1", "/apis/apps/v1"
    openapi_v2,  // "/openapi/v2" and its older names
    openapi_v3,  // "/openapi/v3", "/openapi/v3/apis/apps/v1": `name` is what follows v3
    issuer,      // "/.well-known/openid-configuration"
    keys,        // "/openid/v1/jwks"
    objects,     // a resource: `kind` and what follows it
  };

  place at = place::unknown;
  std::string_view group;
  std::string_view version;
  api::kind_handle kind;
  std::string_view ns;           // empty: all namespaces, or a kind without any
  std::string_view name;         // empty: the collection
  std::string_view subresource;  // "status", "log" ...
};

// Views into `info`.
route route_of(const request_info& info);

// Nothing where the method makes no sense at that place.
std::optional<verb> verb_of(const route& route, const request_info& info) noexcept;

// True where the kind is served under that subresource ("status" of kinds that have one ...).
bool has_subresource(const api::kind_info& kind, std::string_view subresource);

}  // namespace troupe::server

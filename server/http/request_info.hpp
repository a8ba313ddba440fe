// The attributes of a request, parsed from its method, path and query by upstream's rules
// (apiserver request.RequestInfoFactory): needed before the body is read, for authorization, the
// in-flight limits and time-outs. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/query.hpp"

namespace troupe::server {

struct request_info {
  // False: a non-resource request, e.g. /healthz, /api/v1 or /openapi/v2.
  bool is_resource = false;
  // get list watch create update patch delete deletecollection proxy; for a non-resource request
  // the method in lower case.
  std::string verb;
  std::string path;

  // -- of a resource request --------------------------------------------------------------------
  std::string api_prefix;  // "api" or "apis"
  std::string group;       // empty for core
  std::string version;
  std::string namespace_name;
  std::string resource;  // plural, e.g. "pods"
  std::string subresource;
  std::string name;
  std::string field_selector;  // of a list or a watch
  // The path segments after group and version, and after the namespace if there is one:
  // resource[/name[/subresource[/...]]].
  std::vector<std::string> parts;

  bool mutates() const noexcept;
  // Upstream's long-running requests: no time-out and not counted in flight.
  bool long_running() const noexcept;
};

request_info parse_request_info(std::string_view method, std::string_view path,
                                const query_string& query);

}  // namespace troupe::server

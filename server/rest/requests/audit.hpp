// The record of an answered request, for the audit log and for metrics.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "server/http/http.hpp"
#include "server/rest/requests/route.hpp"

namespace troupe::server {

// Valid during the call.
struct request_record {
  const server::request& request;
  const server::route& route;
  server::verb verb;
  int status;
  std::chrono::nanoseconds took;  // until the response was passed to the transport
  // Admission's annotations of the request; null: none.
  const std::map<std::string, std::string>* annotations = nullptr;
};

// Writes one structured line to the "audit" logger for each request that writes, or connects to a
// container; never a body, so no secrets.
void audit(const request_record& record);

}  // namespace troupe::server

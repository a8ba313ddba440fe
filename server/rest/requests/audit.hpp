// The record of an answered request: for the audit log and for metrics.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>

#include "server/http/http.hpp"
#include "server/rest/requests/route.hpp"

namespace troupe::server {

// Valid during the call that it is handed to.
struct request_record {
  const server::request& request;
  const server::route& route;
  server::verb verb;
  int status;
  std::chrono::nanoseconds took;  // until the answer was handed to the transport
  // What admission says about the request; null: nothing.
  const std::map<std::string, std::string>* annotations = nullptr;
};

// One structured line of the logger "audit" for each request that may change something; never a
// body, so no secret.
void audit(const request_record& record);

}  // namespace troupe::server

// What is known of a request once it is answered: for the audit log and for metrics.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "server/http.hpp"
#include "server/rest/route.hpp"

namespace troupe::server {

// Valid during the call that it is handed to.
struct request_record {
  const request& what;
  const route& where;
  verb wanted;
  int status;
  std::chrono::nanoseconds took;  // until the answer was handed to the transport
};

// One structured line of the logger "audit" for each request that may change something; never a
// body, so no secret.
void audit(const request_record& seen);

// -- for others who write lines of that log -----------------------------------------------------

// Adds ,"key":"value" unless the value is empty.
void append_audit(std::string& line, std::string_view key, std::string_view value);
void write_audit(const std::string& line);

}  // namespace troupe::server

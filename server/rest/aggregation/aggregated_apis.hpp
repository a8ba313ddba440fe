// The group versions served by other servers, as published by the aggregator. Read for every
// request: without any of them it costs one atomic load. Thread safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/discovery/discovery.hpp"
#include "api/discovery/openapi.hpp"
#include "server/rest/proxy/tls_client.hpp"

namespace troupe::server {

// An APIService with a service.
struct aggregated_api {
  std::string group, version;
  std::string ns, service;
  int port = 443;
  bool available = false;
  tls_context tls = {};  // null: see `tls_problem`
  std::string tls_problem = {};

  std::string path() const { return "/apis/" + group + "/" + version; }
  // The name by which its certificate is verified.
  std::string server_name() const { return service + "." + ns + ".svc"; }
};
using aggregated_api_ptr = std::shared_ptr<const aggregated_api>;

class aggregated_apis {
 public:
  aggregated_apis();

  // The API that serves the path: /apis/GROUP/VERSION, paths below it, and its OpenAPI document.
  // Null: not an aggregated API.
  aggregated_api_ptr find(std::string_view path) const;
  aggregated_api_ptr find(std::string_view group, std::string_view version) const;
  // "GROUP/VERSION" of each.
  std::vector<std::string> names() const;
  // Discovery documents of all that is served here, by any server.
  std::shared_ptr<api::discovery_documents> discovery() const;
  std::shared_ptr<api::openapi_v2_documents> openapi() const;

  void publish(std::vector<aggregated_api_ptr> all, const api::foreign_versions& discovered,
               const api::foreign_openapis& described);

 private:
  std::atomic<bool> any_{false};
  mutable std::mutex mutex_;
  std::map<std::string, aggregated_api_ptr, std::less<>> by_name_;
  api::foreign_versions discovered_;
  std::shared_ptr<api::discovery_documents> discovery_;
  api::foreign_openapis described_;
  std::shared_ptr<api::openapi_v2_documents> openapi_;
};

}  // namespace troupe::server

// Monitors the aggregated APIs: whether each is reachable, for its condition Available, and its
// resource list, for discovery. One check does both: GET /apis/GROUP/VERSION, as upstream's
// available controller, every 30 s and when the APIService, its service or the service's endpoints
// change. At most once a minute, after a successful check, it also reads /openapi/v2 for the merged
// document.
//
// One actor for each API server, as upstream. Its results are published (aggregated_apis.hpp);
// after a crash they stay until it has checked again. A condition whose write conflicts is written
// again by the next check.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "api/discovery/foreign_openapi.hpp"
#include "api/discovery/foreign_versions.hpp"
#include "server/rest/aggregation/aggregated_apis.hpp"
#include "server/rest/aggregation/availability.hpp"
#include "server/rest/aggregation/backends.hpp"
#include "server/rest/proxy/backend_fetch.hpp"

namespace troupe::server {

class api_aggregator : public actors::informer {
 public:
  api_aggregator(actors::core_actors core, std::shared_ptr<aggregation> shared);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct entry {
    api::object_ptr object;         // the APIService
    std::uint64_t incarnation = 0;  // of its spec; results of checks of an older one are dropped
    aggregated_api api = {};
    std::string shown;  // the certificate used in `api.tls`
    api::foreign_version discovered = {};
    std::shared_ptr<const api::foreign_openapi> described = {};  // null: nothing that can be read
    std::size_t description_hash = 0;                            // of the text that was read last
    runtime::time_point describe_next = {};
    stream service = 0, slices = 0;  // 0: it has no service
    bool checking = false, again = false;
    int attempt = 0, failures = 0;
    runtime::time_point began = {};
    runtime::timer next = {};
  };
  struct checked {
    std::string name;
    std::uint64_t incarnation;
    std::string url;
    std::shared_ptr<fetch_result> result;
  };
  struct described {
    std::string name;
    std::uint64_t incarnation;
    std::shared_ptr<fetch_result> result;
  };

  void on_api_services(const actors::watch_events& m);
  void on_checked(const checked& m);
  void on_described(const described& m);

  void take(const api::object_ptr& object);
  void follow_service(const std::string& name, entry& of);
  void remove(const std::string& name);
  void begin_check(const std::string& name);
  void ask(const std::string& name, entry& of);
  void ask_description(const std::string& name, entry& of);
  void settle(const std::string& name, entry& of, const api_condition& condition);
  void write_condition(const api::object_ptr& object, const api_condition& condition);
  void prepare_tls(entry& of);
  void publish();

  const actors::core_actors core_;
  const std::shared_ptr<aggregation> shared_;
  std::map<std::string, entry> entries_;
  bool known_ = false;  // all APIServices are known
};

}  // namespace troupe::server

#include "actors/api_servers/api_server_informer.hpp"

#include <utility>

#include "actors/api_servers/api_endpoints.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::core::v1::Endpoints;

api_server_informer::api_server_informer(runtime::actor_ref watcher, callback on_change)
    : informer{std::move(watcher)}, on_change_{std::move(on_change)} {}

const runtime::behavior& api_server_informer::make_behavior() const {
  static const auto table = runtime::handlers(&api_server_informer::on_watch_events,
                                              &api_server_informer::on_watch_ended);
  return table;
}

void api_server_informer::started() {
  follow(api::kind_of<Endpoints>().key(api_service_namespace, api_service_name),
         [this](const watch_events& m) { on_endpoints(m); });
}

std::string api_server_informer::describe() const {
  return "controlPlanes: \"" + write_api_servers(last_) + "\"\n";
}

void api_server_informer::on_endpoints(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object || event.type == event_type::deleted) continue;
    const auto& annotations = event.object->meta().annotations();
    const auto found = annotations.find(std::string{api_servers_annotation});
    auto records =
        found == annotations.end() ? api_server_records{} : read_api_servers(found->second);
    if (records.empty() || records == last_) continue;
    last_ = std::move(records);
    on_change_(last_);
  }
}

runtime::actor_ref follow_api_servers(runtime::actor_system& system, runtime::actor_ref watcher,
                                      api_server_informer::callback on_change) {
  return system.spawn({.kind = "api-server-informer", .name = "api-server-informer"},
                      runtime::make<api_server_informer>(std::move(watcher), std::move(on_change)));
}

}  // namespace troupe::actors

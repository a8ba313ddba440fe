#include "actors/network/services/service_proxy.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "actors/core/node_zone.hpp"
#include "actors/network/defaults.hpp"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::services {

service_proxy::service_proxy(runtime::actor_ref watcher, service_proxy_options options)
    : service_informer{std::move(watcher)},
      options_{std::move(options)},
      place_{.name = options_.node},
      table_{options_.table} {}

const runtime::behavior& service_proxy::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&service_proxy::on_watch_events, &service_proxy::on_watch_ended,
                        &service_proxy::on_script_done);
  return table;
}

void service_proxy::started() {
  follow_services();
  follow(api::kind_of<api::core::v1::Node>().key({}, options_.node),
         [this](const watch_events& m) { on_node(m); });
  renewal_ = every(network_defaults::nft_renewal, [this] {
    whole_ = true;
    write();
  });
}

std::string service_proxy::describe() const {
  return fmt::format("services: {}\nelements: {}\nscripts: {}\nproblem: \"{}\"\n",
                     services().size(), table_.size(), scripts_, problem_);
}

void service_proxy::on_node(const watch_events& m) {
  auto zone = place_.zone;
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    zone = event.type == event_type::deleted ? std::string{} : zone_of(*event.object);
  }
  if (std::exchange(place_.zone, zone) != zone) return apply_all();
  // With the first of it all is known.
  apply_soon();
}

void service_proxy::apply(const std::set<std::string>& changed) {
  for (const auto& name : changed) {
    const auto& known = services().at(name);
    table_.replace(
        name, known.service ? elements_of(*known.service, known.slice_list(), place_) : elements{});
  }
  known_ = true;
  write();
}

void service_proxy::write() {
  if (!known_ || running_ || retry_.pending()) return;
  auto script = whole_ ? table_.whole() : table_.difference();
  if (script.empty()) return;
  whole_ = false;
  running_ = true;
  ++scripts_;
  options_.run({std::move(script), table_.changed_udp()},
               [to = self()](std::string problem) { to.tell(script_done{std::move(problem)}); });
}

void service_proxy::on_script_done(const script_done& m) {
  running_ = false;
  if (m.problem.empty()) {
    if (!problem_.empty()) spdlog::info("network: the rules of services are up to date again");
    problem_.clear();
    pause_ = runtime::duration{0};
    table_.in_force();
    return write();
  }
  if (std::exchange(problem_, m.problem) != m.problem)
    spdlog::error("network: the rules of services are not up to date: {}", m.problem);
  whole_ = true;
  pause_ = std::clamp<runtime::duration>(2 * pause_, network_defaults::nft_retry,
                                         network_defaults::nft_longest_retry);
  retry_ = after(pause_, [this] { write(); });
}

}  // namespace troupe::actors::services

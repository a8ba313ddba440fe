#include "actors/network/services/service_proxy.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "actors/core/labels.hpp"
#include "actors/network/defaults.hpp"
#include "actors/network/services/host_ports.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::services {

using api::core::v1::Pod;

namespace {

constexpr const char* api_service = "default/kubernetes";

// The name in the tables for the host ports of a pod. It sorts after all names of services: of two
// that want the same port, the first by name has it.
std::string name_in_tables(const std::string& uid) {
  return "~" + uid;
}

}  // namespace

service_proxy::service_proxy(runtime::actor_ref watcher, service_proxy_options options)
    : service_informer{std::move(watcher)},
      options_{std::move(options)},
      place_{.name = options_.node},
      tables_{options_.tables.begin(), options_.tables.end()},
      writer_{make_writer()} {}

nft::script_writer service_proxy::make_writer() {
  return nft::script_writer{
      {.subject = "the rules of services",
       .text =
           [this](nft::extent wanted) {
             std::string text;
             for (auto& table : tables_)
               text += nft::text_of(table, wanted);
             return text;
           },
       .give =
           [this](std::string text, nft::script_id script) {
             waiters_.begin();
             options_.run({std::move(text), changed_udp(family_v4), changed_udp(family_v6)},
                          [to = self(), script](std::string problem) {
                            to.tell(nft::script_done{script, std::move(problem)});
                          });
           },
       .ended =
           [this](const std::string& problem) {
             waiters_.end(problem);
             if (!problem.empty()) return;
             for (auto& table : tables_)
               table.in_force();
           },
       .up_to_date = [this] { waiters_.up_to_date(); },
       .after = [this](auto delay, auto action) { return after(delay, std::move(action)); }}};
}

udp_endpoints service_proxy::changed_udp(const address_family& family) const {
  for (const auto& table : tables_)
    if (&table.family() == &family) return table.changed_udp();
  return {};
}

const runtime::behavior& service_proxy::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&service_proxy::on_watch_events, &service_proxy::on_watch_ended,
                        &service_proxy::on_guard_pod, &service_proxy::on_script_done,
                        &service_proxy::on_rules_removed, &service_proxy::on_family_checked);
  return table;
}

void service_proxy::started() {
  follow_services();
  follow(api::kind_of<api::core::v1::Node>().key({}, options_.node),
         [this](const watch_events& m) { on_node(m); });
  follow(api::kind_of<Pod>().prefix(), [this](const watch_events& m) { on_pods(m); },
         {.on_node = options_.node});
  if (options_.refused) check_family();
}

std::string service_proxy::describe() const {
  std::size_t elements = 0;
  for (const auto& table : tables_)
    elements += table.size();
  return fmt::format(
      "services: {}\npods_with_host_ports: {}\nelements: {}\nscripts: {}\nproblem: \"{}\"\n",
      services().size(), pods_.size(), elements, writer_.given(), writer_.problem());
}

void service_proxy::on_node(const watch_events& m) {
  auto zone = place_.zone;
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    zone = event.type == event_type::deleted ? std::string{} : zone_of(*event.object);
  }
  if (std::exchange(place_.zone, zone) != zone) return apply_all();
  // The first event of the Node completes the initial state.
  schedule_apply();
}

void service_proxy::on_pods(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::bookmark) continue;
    const auto& uid = event.object->meta().uid();
    if (event.type != event_type::deleted && has_host_ports(event.object->as<Pod>()))
      pods_[uid] = event.object;
    else if (pods_.erase(uid) == 0)
      continue;
    changed_pods_.insert(uid);
  }
  if (changed_pods_.empty())
    schedule_apply();
  else
    apply_others();
}

void service_proxy::on_guard_pod(const nft::guard_pod& m) {
  asked_[m.pod->meta().uid()] = m;
  apply_others();
}

void service_proxy::apply(const std::set<std::string>& changed) {
  for (const auto& name : changed) {
    const auto& known = services().at(name);
    auto slices = known.slice_list();
    if (options_.own_api && name == api_service) slices = {options_.own_api};
    for (auto& table : tables_)
      table.replace(name, known.service ? elements_of(*known.service, slices, place_,
                                                      table.family(), table.service_network())
                                        : elements{});
  }
  for (const auto& [uid, m] : std::exchange(asked_, {})) {
    claims_[uid] = m.addresses;
    waiters_.add(m);
    changed_pods_.insert(uid);
  }
  for (const auto& uid : std::exchange(changed_pods_, {}))
    apply_pod(uid);
  if (waiters_.empty())
    writer_.write();
  else
    writer_.write_at_once();
}

// A pod that is not known here is gone, or its event comes later than its worker's request.
void service_proxy::apply_pod(const std::string& uid) {
  const auto known = pods_.find(uid);
  if (known == pods_.end()) {
    claims_.erase(uid);
    waiters_.refuse(uid, "the node has not seen the pod yet");
    for (auto& table : tables_)
      table.replace(name_in_tables(uid), {});
    return;
  }
  const auto& pod = known->second->as<Pod>();
  const auto claim = claims_.find(uid);
  const auto addresses = claim == claims_.end() ? own_addresses_of(pod) : claim->second;
  for (auto& table : tables_)
    table.replace(name_in_tables(uid), host_port_elements(pod, addresses, table.family()));
}

void service_proxy::on_script_done(const nft::script_done& m) {
  writer_.on_done(m);
}

void service_proxy::on_rules_removed(const nft::rules_removed&) {
  writer_.restore();
}

// -- a family that was refused --------------------------------------------------------------------

void service_proxy::check_family() {
  check_ = after(network_defaults::ipv6_check, [this] { check_family(); });
  options_.check(
      [to = self()](std::string problem) { to.tell(nft::family_checked{std::move(problem)}); });
}

// The tables of other families have no difference then, and stay as they are.
void service_proxy::on_family_checked(const nft::family_checked& m) {
  if (!m.problem.empty() || tables_.size() > options_.tables.size()) return;
  check_.cancel();
  tables_.emplace_back(*options_.refused);
  spdlog::info("network: rules of {} are accepted now: services have them, too",
               options_.refused->family->name);
  for (const auto& [uid, pod] : pods_)
    changed_pods_.insert(uid);
  apply_all();
}

}  // namespace troupe::actors::services

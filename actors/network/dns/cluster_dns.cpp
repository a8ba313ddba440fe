#include "actors/network/dns/cluster_dns.hpp"

#include <fmt/format.h>

#include <utility>

#include "actors/network/dns/dns_name.hpp"
#include "actors/network/dns/service_records.hpp"

namespace troupe::actors::dns {

cluster_dns::cluster_dns(runtime::actor_ref watcher, cluster_dns_options options)
    : service_informer{std::move(watcher)},
      options_{std::move(options)},
      domain_{to_wire(options_.domain).value_or(std::string{})} {}

const runtime::behavior& cluster_dns::make_behavior() const {
  static const runtime::behavior table =
      runtime::handlers(&cluster_dns::on_watch_events, &cluster_dns::on_watch_ended);
  return table;
}

void cluster_dns::started() {
  maker_.replace("/", domain_records(domain_, options_.address));
  follow_services();
}

std::string cluster_dns::describe() const {
  return fmt::format("domain: {}\naddress: {}\nservices: {}\ntables: {}\n", options_.domain,
                     options_.address, services().size(), tables_);
}

void cluster_dns::apply(const std::set<std::string>& changed) {
  for (const auto& name : changed) {
    const auto& known = services().at(name);
    maker_.replace(name, known.service ? records_of(*known.service, known.slice_list(), domain_)
                                       : std::vector<named_record>{});
  }
  ++tables_;
  options_.publish(maker_.table());
}

}  // namespace troupe::actors::dns

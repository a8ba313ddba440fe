// Cluster addresses of two families: chosen, named by the Service, kept and released.
#include "actors/write/admission/service_addresses.hpp"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "actors/defaults.hpp"
#include "actors/network/defaults.hpp"
#include "actors/write/admission/service_allocations.hpp"
#include "actors/write/admission_fixture.hpp"
#include "api/schema/core_service.pb.h"
#include "api/values/cidr.hpp"

namespace troupe::test {

using actors::service_addresses;
using api::core::v1::Service;

namespace {

struct given_addresses {
  cluster c{1, without_controllers()};
  std::string v6 = "fd00:10:96::/112";

  actors::admission::verdict reserve(Service& service, const Service* was = nullptr) {
    const admission_case by{
        std::make_shared<service_addresses>(*service_addresses::in("10.96.0.0/12", v6)),
        c.store().read()};
    persistence::transaction into;
    into.mutations.push_back({"key", &api::kind_of<Service>(), std::make_unique<Service>(service)});
    const auto& made = static_cast<const Service&>(*into.mutations.front().content);
    auto answer = by.plugin->reserve(by.of(was, &made), into);
    service = made;
    return answer;
  }
};

Service service_with(const std::string& policy) {
  Service made;
  made.mutable_metadata()->set_name("a");
  made.mutable_metadata()->set_namespace_("default");
  made.mutable_metadata()->set_uid("uid-a");
  (*made.mutable_spec()->mutable_selector())["app"] = "web";
  made.mutable_spec()->set_type("ClusterIP");
  made.mutable_spec()->set_ip_family_policy(policy);
  return made;
}

bool is_of(const std::string& address, const std::string& range, const char* bits) {
  const auto one = api::cidr::parse(address + bits);
  return one && api::cidr::parse(range)->contains(*one);
}

}  // namespace

TEST_CASE("a service with two families has an address of each range", "[services]") {
  given_addresses g;
  auto service = service_with("RequireDualStack");
  REQUIRE(g.reserve(service));
  const auto& spec = service.spec();
  REQUIRE(spec.cluster_ips_size() == 2);
  CHECK(spec.cluster_ip() == spec.cluster_ips(0));
  CHECK(is_of(spec.cluster_ips(0), "10.96.0.0/12", "/32"));
  CHECK(is_of(spec.cluster_ips(1), g.v6, "/128"));
  SECTION("which stay with it") {
    auto changed = service;
    (*changed.mutable_spec()->mutable_selector())["app"] = "other";
    REQUIRE(g.reserve(changed, &service));
    CHECK(changed.spec().cluster_ips(1) == spec.cluster_ips(1));
  }
  SECTION("and gives the second one up with the policy") {
    auto changed = service;
    changed.mutable_spec()->set_ip_family_policy("SingleStack");
    REQUIRE(g.reserve(changed, &service));
    REQUIRE(changed.spec().cluster_ips_size() == 1);
    CHECK(changed.spec().cluster_ip() == spec.cluster_ip());
    CHECK(changed.spec().ip_families_size() == 1);
  }
}

TEST_CASE("a service of IPv6 alone has one address, as given or chosen", "[services]") {
  given_addresses g;
  auto service = service_with("SingleStack");
  service.mutable_spec()->add_ip_families("IPv6");
  REQUIRE(g.reserve(service));
  REQUIRE(service.spec().cluster_ips_size() == 1);
  CHECK(is_of(service.spec().cluster_ip(), g.v6, "/128"));
  auto given = service_with("SingleStack");
  given.mutable_spec()->set_cluster_ip("fd00:10:96::7");
  REQUIRE(g.reserve(given));
  CHECK(given.spec().ip_families(0) == "IPv6");
  for (const auto* outside : {"fd00:10:97::7", "fd00:10:96::"}) {
    auto refused = service_with("SingleStack");
    refused.mutable_spec()->set_cluster_ip(outside);
    CHECK_FALSE(g.reserve(refused));
  }
}

TEST_CASE("an address of IPv6 is given once", "[services]") {
  given_addresses g;
  auto holder = service_with("SingleStack");
  holder.mutable_metadata()->set_name("holder");
  holder.mutable_spec()->set_cluster_ip("10.96.0.7");
  holder.mutable_spec()->add_cluster_ips("10.96.0.7");
  holder.mutable_spec()->add_cluster_ips("fd00:10:96::7");
  holder.mutable_spec()->add_ports()->set_port(80);
  g.c.create(holder);
  CHECK(g.c.store().read().find(actors::address_allocation_key("fd00:10:96::7")));
  auto service = service_with("SingleStack");
  service.mutable_spec()->set_cluster_ip("fd00:10:96::7");
  const auto refused = g.reserve(service);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("provided IP is already allocated") != std::string::npos);
  // In a small range too, an address in use is not chosen.
  g.v6 = "fd00:10:96::/124";
  auto last = service_with("RequireDualStack");
  REQUIRE(g.reserve(last));
  CHECK(last.spec().cluster_ips(1) != "fd00:10:96::7");
}

TEST_CASE("the addresses of the API and of DNS are not given to other services", "[services]") {
  given_addresses g;
  const std::string api = actors::defaults::api_service_address,
                    dns = actors::network_defaults::dns_address;
  for (const auto& address : {api, dns}) {
    auto service = service_with("SingleStack");
    service.mutable_metadata()->set_namespace_("kube-system");
    service.mutable_metadata()->set_name("kube-dns");
    service.mutable_spec()->set_cluster_ip(address);
    const auto refused = g.reserve(service);
    REQUIRE_FALSE(refused);
    INFO(refused.error().message);
    CHECK(refused.error().code == 422);
    CHECK(refused.error().message.find("failed to allocate IP " + address +
                                       ": provided IP is already allocated: ") !=
          std::string::npos);
    // One of an older store can still be changed.
    const auto before = service;
    CHECK(g.reserve(service, &before));
  }
  auto service = service_with("SingleStack");
  service.mutable_metadata()->set_name("kubernetes");
  service.mutable_spec()->set_cluster_ip(dns);
  CHECK_FALSE(g.reserve(service));
  service.mutable_spec()->clear_cluster_ips();
  service.mutable_spec()->set_cluster_ip(api);
  CHECK(g.reserve(service));
}

TEST_CASE("the addresses of the API and of DNS are not chosen in a small range", "[services]") {
  cluster c{1, without_controllers()};
  const admission_case by{
      std::make_shared<service_addresses>(*service_addresses::in("10.96.0.0/28")),
      c.store().read()};
  std::set<std::string> chosen;
  for (int i = 0; i < 14; ++i) {
    auto service = service_with("SingleStack");
    service.mutable_metadata()->set_name("s" + std::to_string(i));
    service.mutable_spec()->add_ports()->set_port(80);
    persistence::transaction into;
    into.mutations.push_back({"key", &api::kind_of<Service>(), std::make_unique<Service>(service)});
    const admission_case now{by.plugin, c.store().read()};
    const auto& made = static_cast<const Service&>(*into.mutations.front().content);
    if (!now.plugin->reserve(now.of(nullptr, &made), into)) break;
    service = made;
    chosen.insert(service.spec().cluster_ip());
    c.create(service);
  }
  CHECK(chosen.size() == 12);
  CHECK_FALSE(chosen.contains(actors::defaults::api_service_address));
  CHECK_FALSE(chosen.contains(actors::network_defaults::dns_address));
}

TEST_CASE("the second address of a service is free again after a change to one family",
          "[services]") {
  given_addresses g;
  auto service = service_with("RequireDualStack");
  service.mutable_spec()->add_ports()->set_port(80);
  REQUIRE(g.reserve(service));
  g.c.create(service);
  const auto first = actors::address_allocation_key(service.spec().cluster_ips(0)),
             second = actors::address_allocation_key(service.spec().cluster_ips(1));
  REQUIRE(g.c.store().read().find(first));
  REQUIRE(g.c.store().read().find(second));
  auto single = service;
  single.mutable_spec()->set_ip_family_policy("SingleStack");
  REQUIRE(g.reserve(single, &service));
  g.c.change<Service>("default", "a", [&](Service& each) { *each.mutable_spec() = single.spec(); });
  CHECK(g.c.store().read().find(first));
  CHECK_FALSE(g.c.store().read().find(second));
  auto next = service_with("SingleStack");
  next.mutable_spec()->set_cluster_ip(service.spec().cluster_ips(1));
  CHECK(g.reserve(next));
}

TEST_CASE("a range of services that cannot be given is named", "[services]") {
  for (const auto* text : {"fd00:10:96::/96", "fd00:10:96::/125", "10.0.0.0/16", "fd00::"})
    CHECK_FALSE(service_addresses::in("10.96.0.0/12", text));
  CHECK_FALSE(service_addresses::in("10.96.0.0/7"));
  CHECK(service_addresses::in("10.96.0.5/28"));
}

}  // namespace troupe::test

// EndpointSlices of hand-written Endpoints: the plan as a function, and the controller in a
// simulated cluster.
#include <catch2/catch.hpp>

#include "actors/controllers/slice_mirroring/mirror_plan.hpp"
#include "api/scheme.hpp"
#include "support/cluster.hpp"

namespace troupe::test {

using actors::slice_mirroring::most_addresses;
using actors::slice_mirroring::plan_mirror;
using api::core::v1::Endpoints;
using api::core::v1::Service;
using api::discovery::v1::EndpointSlice;

namespace {

template <class T>
api::object_ptr object(const T& body) {
  return std::make_shared<const api::object>(api::kind_of<T>(), std::make_unique<T>(body), 1);
}

Service service_body() {
  Service body;
  body.mutable_metadata()->set_name("db");
  body.mutable_metadata()->set_namespace_("default");
  auto& port = *body.mutable_spec()->add_ports();
  port.set_port(5432);
  port.set_protocol("TCP");
  return body;
}

Endpoints endpoints_body(const std::vector<std::string>& addresses) {
  Endpoints body;
  body.mutable_metadata()->set_name("db");
  body.mutable_metadata()->set_namespace_("default");
  (*body.mutable_metadata()->mutable_labels())["team"] = "blue";
  auto& subset = *body.add_subsets();
  for (const auto& each : addresses)
    subset.add_addresses()->set_ip(each);
  auto& port = *subset.add_ports();
  port.set_port(5432);
  port.set_protocol("TCP");
  return body;
}

}  // namespace

TEST_CASE("there is a slice for each family and each set of ports", "[slice_mirroring]") {
  auto body = endpoints_body({"192.0.2.1", "2001:db8::1"});
  body.mutable_subsets(0)->add_not_ready_addresses()->set_ip("192.0.2.2");
  auto plan = plan_mirror(*object(body), object(service_body()), {});
  REQUIRE(plan.create.size() == 2);
  const auto& v4 = *plan.create[0];
  CHECK(v4.address_type() == "IPv4");
  REQUIRE(v4.endpoints_size() == 2);
  CHECK(v4.endpoints(0).conditions().ready());
  CHECK_FALSE(v4.endpoints(1).conditions().ready());
  CHECK(v4.ports(0).port() == 5432);
  CHECK(v4.metadata().labels().at("kubernetes.io/service-name") == "db");
  CHECK(v4.metadata().labels().at("endpointslice.kubernetes.io/managed-by") ==
        "endpointslicemirroring-controller.k8s.io");
  CHECK(v4.metadata().labels().at("team") == "blue");
  CHECK(plan.create[1]->address_type() == "IPv6");
}

TEST_CASE("slices follow their Endpoints, and an unchanged plan writes nothing",
          "[slice_mirroring]") {
  const auto first = object(endpoints_body({"192.0.2.1"})), service = object(service_body());
  auto made = plan_mirror(*first, service, {});
  REQUIRE(made.create.size() == 1);
  const auto slice = object(*made.create[0]);
  const auto again = plan_mirror(*first, service, {slice});
  CHECK(again.create.size() + again.update.size() + again.remove.size() == 0);
  const auto changed = plan_mirror(*object(endpoints_body({"192.0.2.9"})), service, {slice});
  REQUIRE(changed.update.size() == 1);
  CHECK(changed.update[0].second->endpoints(0).addresses(0) == "192.0.2.9");
  CHECK(plan_mirror(*object(endpoints_body({})), service, {slice}).remove.size() == 1);
}

TEST_CASE("Endpoints of a service with a selector, or with the label skip-mirror, are not mirrored",
          "[slice_mirroring]") {
  auto body = endpoints_body({"192.0.2.1"});
  auto service = service_body();
  CHECK(plan_mirror(*object(body), nullptr, {}).create.empty());
  (*service.mutable_spec()->mutable_selector())["app"] = "db";
  CHECK(plan_mirror(*object(body), object(service), {}).create.empty());
  service.mutable_spec()->clear_selector();
  (*body.mutable_metadata()->mutable_labels())["endpointslice.kubernetes.io/skip-mirror"] = "true";
  CHECK(plan_mirror(*object(body), object(service), {}).create.empty());
}

TEST_CASE("a subset of too many addresses is mirrored as far as a slice goes",
          "[slice_mirroring]") {
  std::vector<std::string> addresses;
  for (int i = 0; i < most_addresses + 5; ++i)
    addresses.push_back("10.1." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1));
  const auto plan = plan_mirror(*object(endpoints_body(addresses)), object(service_body()), {});
  REQUIRE(plan.create.size() == 1);
  CHECK(plan.create[0]->endpoints_size() == most_addresses);
}

TEST_CASE("Endpoints written by a user get a slice when their service exists",
          "[slice_mirroring]") {
  cluster c{1};
  c.create(endpoints_body({"192.0.2.1"}));
  c.settle();
  const auto mirrored = [&] {
    std::vector<std::string> out;
    c.store().read().scan(api::kind_of<EndpointSlice>().prefix("default"), {},
                          [&](std::string_view, const api::object_ptr& found) {
                            const auto& slice = found->as<EndpointSlice>();
                            if (slice.metadata().labels().contains("team"))
                              out.push_back(slice.endpoints(0).addresses(0));
                            return true;
                          });
    return out;
  };
  CHECK(mirrored().empty());
  c.create(service_body());
  CHECK(c.run_until([&] { return mirrored() == std::vector<std::string>{"192.0.2.1"}; }));
  c.change<Endpoints>("default", "db", [](Endpoints& now) {
    now.mutable_subsets(0)->mutable_addresses(0)->set_ip("192.0.2.2");
  });
  CHECK(c.run_until([&] { return mirrored() == std::vector<std::string>{"192.0.2.2"}; }));
}

TEST_CASE("Endpoints written by a user are deleted with their service", "[slice_mirroring]") {
  cluster c{1};
  auto body = endpoints_body({"192.0.2.1"});
  c.create(body);
  const auto exists = [&] { return c.find<Endpoints>("default", "db") != nullptr; };
  const auto has_slice = [&] {
    for (const auto& slice : c.list<EndpointSlice>("default"))
      if (slice->meta().labels().contains("team")) return true;
    return false;
  };
  c.advance(std::chrono::minutes{1});
  REQUIRE(exists());
  c.create(service_body());
  REQUIRE(c.run_until(has_slice));
  SECTION("the controller sees the deletion") {
    c.remove<Service>("default", "db");
    CHECK(c.run_until([&] { return !exists() && !has_slice(); }));
    INFO("those that are written later stay");
    c.create(body);
    c.advance(std::chrono::minutes{1});
    CHECK(exists());
  }
  SECTION("the controller is down") {
    c.crash("endpoints", "default/db");
    c.remove<Service>("default", "db");
    CHECK(c.run_until([&] { return !exists() && !has_slice(); }));
  }
  SECTION("they opt out of mirroring") {
    c.change<Endpoints>("default", "db", [](Endpoints& now) {
      (*now.mutable_metadata()->mutable_labels())["endpointslice.kubernetes.io/skip-mirror"] =
          "true";
    });
    REQUIRE(c.run_until([&] { return !has_slice(); }));
    c.remove<Service>("default", "db");
    CHECK(c.run_until([&] { return !exists(); }));
  }
}

}  // namespace troupe::test

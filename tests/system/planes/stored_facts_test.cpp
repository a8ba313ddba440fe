#include "system/planes/stored_facts.hpp"

#include <catch2/catch.hpp>

#include "api/object/object.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"
#include "api/storage/upstream_form.hpp"

using namespace troupe::test;
namespace api = troupe::api;

namespace {

template <class Kind>
std::string stored_form(const Kind& object) {
  const auto& kind = api::kind_of<Kind>();
  return api::to_upstream(&kind, api::to_storage(kind, object), 33);
}

}  // namespace

TEST_CASE("texts of Go are read as the bytes that they stand for", "[planes][judge]") {
  using namespace std::string_literals;
  CHECK(unquoted("plain") == "plain");
  CHECK(unquoted(R"(k8s\x00\n\t\a\\\"\xff)") == "k8s\0\n\t\a\\\"\xff"s);
  CHECK(unquoted(R"(\u00ad\u2028\U0001f600)") == "\u00ad\u2028\U0001f600");
  CHECK(unquoted(R"(ends with \)") == R"(ends with \)");
}

TEST_CASE("of stored pods and services the checker knows nodes, addresses and ports",
          "[planes][judge]") {
  api::core::v1::Pod pod;
  pod.mutable_metadata()->set_name("p");
  const std::string pods = "/registry/pods/default/p",
                    services = "/registry/services/specs/default/s";
  CHECK(facts_of(pods, stored_form(pod)) == "-");
  pod.mutable_spec()->set_node_name("m1");
  CHECK(facts_of(pods, stored_form(pod)) == "m1");
  pod.mutable_metadata()->mutable_deletion_timestamp()->set_seconds(1);
  CHECK(facts_of(pods, stored_form(pod)) == "m1 terminating");
  CHECK(facts_of(pods, "<1>") == unreadable);

  api::core::v1::Service service;
  service.mutable_metadata()->set_name("s");
  service.mutable_spec()->add_cluster_ips("None");
  CHECK(facts_of(services, stored_form(service)).empty());
  service.mutable_spec()->set_cluster_ips(0, "10.96.0.7");
  auto& port = *service.mutable_spec()->add_ports();
  port.set_protocol("UDP");
  port.set_node_port(30'001);
  CHECK(facts_of(services, stored_form(service)) == "10.96.0.7 30001/UDP ");
  CHECK(facts_of("/registry/configmaps/default/c", "<1>").empty());
}

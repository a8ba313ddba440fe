// The records of control planes, which of them count as alive, and the resulting addresses in
// default/kubernetes.
#include "actors/api_servers/api_server_record.hpp"

#include <catch2/catch.hpp>
#include <memory>

#include "actors/api_servers/api_endpoints.hpp"
#include "actors/api_servers/defaults.hpp"
#include "actors/core_fixture.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

using namespace troupe;
using namespace troupe::actors;
using api::coordination::v1::Lease;
using api::core::v1::Endpoints;

namespace {

api_server_record record_of(const std::string& name) {
  return {name, "10.0.0.1:6443", "10.0.0.1:6444", "sha256:" + name};
}

class records {
 public:
  void renew(const std::string& name) {
    auto lease = std::make_unique<Lease>();
    complete(*lease, record_of(name), {});
    persistence::transaction write;
    write.mutations.push_back({key(name), &api::kind_of<Lease>(), std::move(lease)});
    fixture_.store->submit(std::move(write), [](const auto& result) { REQUIRE(result); });
  }
  api_server_watch::found check() { return watch_.check(fixture_.store->read(), "own"); }

 private:
  static std::string key(const std::string& name) {
    return api::kind_of<Lease>().key(api_server_namespace, api_server_lease(name));
  }

  test::core_fixture fixture_{1};
  api_server_watch watch_;
};

std::vector<std::string> names(const api_server_records& records) {
  std::vector<std::string> all;
  for (const auto& each : records)
    all.push_back(each.name);
  return all;
}

}  // namespace

TEST_CASE("a record of a control plane is read as it was written", "[api_servers]") {
  Lease lease;
  complete(lease, record_of("a"), {});
  CHECK(read_api_server(lease) == record_of("a"));
  lease.mutable_metadata()->set_name("somebody-else");
  CHECK_FALSE(read_api_server(lease));
}

TEST_CASE("a list of control planes is read as it was written", "[api_servers]") {
  const api_server_records all{record_of("a"), record_of("b"), {"c", "[::1]:1", "", ""}};
  CHECK(read_api_servers(write_api_servers(all)) == all);
}

TEST_CASE("malformed entries in a list of control planes are ignored", "[api_servers]") {
  CHECK(read_api_servers("").empty());
  CHECK(read_api_servers(",,/,a/b,a/b/c/d/e,///,x//l/h").empty());
  CHECK(names(read_api_servers("a/b,n/a:1/l/h,")) == std::vector<std::string>{"n"});
}

TEST_CASE("a list of control planes ends after so many as a machine calls", "[api_servers]") {
  api_server_records many(100, record_of("a"));
  CHECK(read_api_servers(write_api_servers(many)).size() == api_server_defaults::api_servers);
}

TEST_CASE("a control plane is dead that does not renew its record while another does",
          "[api_servers]") {
  records of;
  of.renew("own");
  of.renew("other");
  CHECK(names(of.check().live) == std::vector<std::string>{"other", "own"});
  for (int i = 1; i < api_server_defaults::missed_renewals; ++i) {
    of.renew("own");
    CHECK(of.check().dead.empty());
  }
  of.renew("own");
  const auto found = of.check();
  REQUIRE(found.dead.size() == 1);
  CHECK(found.dead.contains("other"));
  CHECK(names(found.live) == std::vector<std::string>{"own"});
}

TEST_CASE("who renews again in time stays alive", "[api_servers]") {
  records of;
  of.renew("own");
  of.renew("other");
  for (int i = 0; i < 20; ++i) {
    of.renew("own");
    CHECK(of.check().dead.empty());
    of.renew("other");
    CHECK(of.check().dead.empty());
  }
}

TEST_CASE("a control plane whose own renewals do not come back takes nobody for dead",
          "[api_servers]") {
  records of;
  of.renew("own");
  of.renew("other");
  for (int i = 0; i < 100; ++i)
    CHECK(of.check().dead.empty());
  CHECK(of.check().live.size() == 2);
}

TEST_CASE("an address that is one machine's alone is no endpoint of the API", "[api_servers]") {
  const auto all = endpoints_of({{"a", "127.0.0.1:6443", "", ""},
                                 {"b", "10.0.0.2:6443", "", ""},
                                 {"c", "[fd00::1]:6443", "", ""},
                                 {"d", "[::1]:6443", "", ""},
                                 {"e", "nonsense", "", ""}});
  CHECK(all == api_endpoints{{"10.0.0.2", 6443}, {"fd00::1", 6443}});
}

TEST_CASE("control planes at one port share a slice, those at others have their own",
          "[api_servers]") {
  const auto slices = slices_of({{"10.0.0.1", 6443}, {"10.0.0.2", 6443}, {"10.0.0.3", 7443}});
  REQUIRE(slices.size() == 2);
  CHECK(slices[0].name == "kubernetes");
  CHECK(slices[0].addresses == std::vector<std::string>{"10.0.0.1", "10.0.0.2"});
  CHECK(slices[1].name == "kubernetes-ipv4-7443");
  CHECK(slices[1].addresses == std::vector<std::string>{"10.0.0.3"});
}

TEST_CASE("the Endpoints of the API have a subset for each port", "[api_servers]") {
  Endpoints object;
  complete(object, {{"10.0.0.1", 6443}, {"10.0.0.2", 6443}, {"10.0.0.3", 7443}});
  REQUIRE(object.subsets_size() == 2);
  CHECK(object.subsets(0).addresses_size() == 2);
  CHECK(object.subsets(1).addresses(0).ip() == "10.0.0.3");
  CHECK(object.subsets(1).ports(0).port() == 7443);
}

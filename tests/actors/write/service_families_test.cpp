// The families of a Service by its spec, its former state and the cluster's ranges.
#include "actors/write/admission/service_families.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace troupe::test {

using api::core::v1::Service;
using texts = std::vector<std::string>;

namespace {

struct wish {
  std::string policy = {};
  texts families = {}, ips = {};
  bool selects = true;
};

Service service_with(const wish& wanted) {
  Service made;
  auto& spec = *made.mutable_spec();
  if (!wanted.policy.empty()) spec.set_ip_family_policy(wanted.policy);
  for (const auto& each : wanted.families)
    spec.add_ip_families(each);
  for (const auto& each : wanted.ips)
    spec.add_cluster_ips(each);
  if (!wanted.ips.empty()) spec.set_cluster_ip(wanted.ips.front());
  if (wanted.selects) (*spec.mutable_selector())["app"] = "web";
  return made;
}

struct outcome {
  std::string policy;
  texts families, ips, problems;
};

outcome chosen(const wish& wanted, bool dual, const wish* was = nullptr) {
  auto service = service_with(wanted);
  const auto before = was ? service_with(*was) : Service{};
  api::field_errors found;
  actors::choose_families(service, was ? &before : nullptr, dual, found);
  const auto& spec = service.spec();
  outcome out{spec.ip_family_policy(),
              {spec.ip_families().begin(), spec.ip_families().end()},
              {spec.cluster_ips().begin(), spec.cluster_ips().end()},
              {}};
  for (const auto& each : found.take())
    out.problems.push_back(each.field + ": " + each.message);
  return out;
}

const texts v4{"IPv4"}, v6{"IPv6"}, both{"IPv4", "IPv6"}, both_v6_first{"IPv6", "IPv4"};
const texts ips{"10.96.0.7", "fd00:10:96::7"};

}  // namespace

TEST_CASE("a service has one family unless it asks for both", "[services]") {
  for (const bool dual : {false, true}) {
    INFO(dual);
    const auto plain = chosen({}, dual);
    CHECK(plain.problems.empty());
    CHECK(plain.policy == "SingleStack");
    CHECK(plain.families == v4);
    CHECK(chosen({.policy = "PreferDualStack"}, dual).families == (dual ? both : v4));
  }
  CHECK(chosen({.policy = "RequireDualStack"}, true).families == both);
  CHECK(chosen({.families = v6}, true).families == v6);
  CHECK(chosen({.policy = "PreferDualStack", .families = v6}, true).families == both_v6_first);
}

TEST_CASE("addresses that are given say which families are meant", "[services]") {
  CHECK(chosen({.ips = {"fd00:10:96::7"}}, true).families == v6);
  CHECK(chosen({.policy = "RequireDualStack", .ips = ips}, true).families == both);
  CHECK(chosen({.ips = {"fd00:10:96::7"}}, false).problems ==
        texts{R"(spec.clusterIPs[0]: Invalid value: ["fd00:10:96::7"]: )"
              "IPv6 is not configured on this cluster"});
}

TEST_CASE("a headless service without a selector has both families in any cluster", "[services]") {
  const auto made = chosen({.ips = {"None"}, .selects = false}, false);
  CHECK(made.policy == "RequireDualStack");
  CHECK(made.families == both);
  CHECK(chosen({.policy = "SingleStack", .ips = {"None"}, .selects = false}, false).families == v4);
  CHECK(chosen({.ips = {"None"}}, false).families == v4);
}

TEST_CASE("a service that the cluster cannot provide is refused with upstream's message",
          "[services]") {
  CHECK(chosen({.policy = "RequireDualStack"}, false).problems ==
        texts{"spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not "
              "configured for dual-stack services"});
  CHECK(chosen({.families = v6}, false).problems ==
        texts{"spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this cluster"});
  CHECK(chosen({.families = both}, true).problems ==
        texts{"spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or "
              "'PreferDualStack' when multiple IP families are specified"});
  CHECK(chosen({.policy = "SingleStack", .ips = ips}, true).problems ==
        texts{"spec.ipFamilyPolicy: Invalid value: \"SingleStack\": must be 'RequireDualStack' or "
              "'PreferDualStack' when multiple cluster IPs are specified"});
}

TEST_CASE("a service gets its second family and gives it up by its policy", "[services]") {
  const wish single{.policy = "SingleStack", .families = v4, .ips = {ips[0]}};
  const wish dual{.policy = "RequireDualStack", .families = both, .ips = ips};
  auto wanted = single;
  wanted.policy = "PreferDualStack";
  CHECK(chosen(wanted, true, &single).families == both);
  wanted = dual;
  wanted.policy = "SingleStack";
  const auto given_up = chosen(wanted, true, &dual);
  CHECK(given_up.problems.empty());
  CHECK(given_up.families == v4);
  CHECK(given_up.ips == texts{ips[0]});
  wanted = dual;
  wanted.ips.pop_back();
  CHECK(chosen(wanted, true, &dual).problems ==
        texts{"spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": must be 'SingleStack' to "
              "release the secondary cluster IP"});
}

TEST_CASE("a service that prefers two families stays as it is when the cluster changes",
          "[services]") {
  const wish one{.policy = "PreferDualStack", .families = v4, .ips = {ips[0]}};
  CHECK(chosen(one, true, &one).families == v4);
  const wish two{.policy = "PreferDualStack", .families = both, .ips = ips};
  CHECK(chosen(two, false, &two).families == both);
}

}  // namespace troupe::test

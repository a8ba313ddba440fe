// Values as kube-apiserver 1.20.2 stores them (tests/golden-1.20/README.md): decoded and encoded
// again.
#include "api/storage/upstream_form.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "api/codec/codec.hpp"
#include "api/codec/envelope.hpp"
#include "api/codec/type_plan.hpp"
#include "api/object/object.hpp"
#include "api/schema/apiextensions_v1.pb.h"
#include "api/schema/autoscaling_v2.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "api/schema/networking_v1.pb.h"
#include "api/schema/policy_budget.pb.h"
#include "api/scheme.hpp"
#include "api/storage/stored_versions.hpp"
#include "api/storage/zeros.hpp"
#include "api/values/base64.hpp"
#include "build_paths.hpp"

namespace troupe::api {
namespace {

struct golden_value {
  std::string key, value;
  kind_handle kind;  // null if unknown
};

kind_handle kind_of_upstream(std::string_view key) {
  const auto kinds = scheme::instance().kinds();
  for (const auto* each : kinds->stored())
    if (key.starts_with(each->etcd_prefix())) return each;
  return nullptr;
}

std::vector<golden_value> golden_values() {
  std::ifstream file(std::string(TROUPE_SOURCE_DIR) + "/tests/golden-1.20/etcd.txt");
  std::vector<golden_value> all;
  std::string key, value;
  while (file >> key >> value) {
    std::string bytes;
    REQUIRE_FALSE(append_from_base64(bytes, value));
    all.push_back({key, std::move(bytes), kind_of_upstream(key)});
  }
  REQUIRE(all.size() > 100);
  return all;
}

std::string golden_of(std::string_view key) {
  for (auto& each : golden_values())
    if (each.key == key) return each.value;
  FAIL("no golden value of " << key);
  return {};
}

template <class T>
T read_golden(std::string_view key) {
  const auto& kind = kind_of<T>();
  const auto stored = from_upstream(&kind, golden_of(key));
  REQUIRE(stored);
  const auto content = body_from_storage(kind, *stored);
  REQUIRE(content);
  return static_cast<const T&>(**content);
}

// The first difference of two texts, in hexadecimal, with the bytes before it.
std::string difference(std::string_view a, std::string_view b) {
  const auto at = static_cast<std::size_t>(
      std::mismatch(a.begin(),
                    a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())),
                    b.begin())
          .first -
      a.begin());
  const auto from = at > 40 ? at - 40 : 0;
  std::string out = "at " + std::to_string(at) + " of " + std::to_string(a.size()) + " and " +
                    std::to_string(b.size()) + ":";
  for (const auto text : {a, b}) {
    out += "\n  ";
    for (const char c : text.substr(from, 80)) {
      constexpr auto digits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 32 && byte < 127)
        out += c;
      else
        (out += '<') += {digits[byte >> 4], digits[byte & 15], '>'};
    }
  }
  return out;
}

}  // namespace

TEST_CASE("every value of kube-apiserver 1.20 is read and written again with the same bytes",
          "[upstream]") {
  std::set<std::string> kinds;
  for (const auto& each : golden_values()) {
    CAPTURE(each.key);
    if (each.kind == nullptr && !each.value.starts_with('{')) continue;  // not converted
    const auto stored = from_upstream(each.kind.get(), each.value);
    if (!stored) {
      FAIL_CHECK(stored.error().message);
      continue;
    }
    // Fields that autoscaling/v1 hides in annotations are written as v2beta2; definitions as
    // v1.
    if (each.key.ends_with("/scaler-more") || each.key.find("customresourcedef") != each.key.npos)
      continue;
    const auto again = to_upstream(each.kind.get(), *stored, 20);
    if (each.kind != nullptr) {
      CHECK(body_from_storage(*each.kind, *stored));
      kinds.insert(each.kind->kind());
    }
    if (again != each.value) FAIL_CHECK(difference(each.value, again));
  }
  CHECK(kinds.size() >= 40);
}

TEST_CASE("values of a release after 1.20 are read as the same object", "[upstream]") {
  for (const auto& each : golden_values()) {
    if (each.kind == nullptr) continue;
    CAPTURE(each.key);
    const auto stored = from_upstream(each.kind.get(), each.value);
    REQUIRE(stored);
    for (int minor = first_storage_minor; minor <= last_storage_minor; ++minor) {
      CAPTURE(minor);
      const auto written = to_upstream(each.kind.get(), *stored, minor);
      if (minor == last_storage_minor && !written.starts_with('{'))
        CHECK(open_envelope(written)->api_version == each.kind->api_version());
      const auto again = from_upstream(each.kind.get(), written);
      REQUIRE(again);
      CHECK(*again == *stored);
    }
  }
}

TEST_CASE("values in old versions are converted to the stored version", "[upstream]") {
  const auto ingress = read_golden<networking::v1::Ingress>("/registry/ingress/golden/ingress");
  CHECK(ingress.spec().default_backend().service().name() == "service");
  CHECK(ingress.spec().default_backend().service().port().name() == "http");
  const auto& paths = ingress.spec().rules(0).ingress_rule_value().http().paths();
  CHECK(paths[0].backend().service().port().number() == 80);
  CHECK(paths[1].backend().resource().kind() == "Bucket");

  const auto slice =
      read_golden<discovery::v1::EndpointSlice>("/registry/endpointslices/golden/slice");
  CHECK(slice.endpoints(0).node_name() == "node-1");
  CHECK(slice.endpoints(0).zone() == "z1");
  CHECK(slice.endpoints(0).deprecated_topology_size() == 1);

  const auto scaler = read_golden<autoscaling::v2::HorizontalPodAutoscaler>(
      "/registry/horizontalpodautoscalers/golden/scaler-more");
  CHECK(scaler.metadata().annotations().empty());
  REQUIRE(scaler.spec().metrics_size() == 5);
  CHECK(scaler.spec().metrics(0).resource().target().average_value().string() == "100Mi");
  CHECK(scaler.spec().metrics(1).pods().metric().selector().match_labels().at("a") == "b");
  CHECK(scaler.spec().metrics(2).object().described_object().kind() == "Service");
  CHECK(scaler.spec().metrics(2).object().target().value().string() == "10");
  CHECK(scaler.spec().metrics(3).external().metric().name() == "queue");
  CHECK(scaler.spec().metrics(4).resource().target().average_utilization() == 60);
  CHECK(scaler.spec().behavior().scale_down().policies(0).period_seconds() == 60);
}

TEST_CASE("a budget with an empty selector protects all pods also where v1beta1 is stored",
          "[upstream]") {
  const auto& kind = kind_of<policy::v1::PodDisruptionBudget>();
  policy::v1::PodDisruptionBudget budget;
  budget.mutable_metadata()->set_name("all");
  budget.mutable_spec()->mutable_selector();
  const auto stored = to_storage(kind, budget);
  const auto written = to_upstream(&kind, stored, 20);
  const auto opened = open_envelope(written);
  REQUIRE(opened);
  CHECK(opened->api_version == "policy/v1beta1");
  policy::v1::PodDisruptionBudget seen;
  REQUIRE(seen.ParseFromArray(opened->raw.data(), static_cast<int>(opened->raw.size())));
  REQUIRE(seen.spec().selector().match_expressions_size() == 1);
  CHECK(seen.spec().selector().match_expressions(0).operator_() == "DoesNotExist");
  const auto again = from_upstream(&kind, written);
  REQUIRE(again);
  CHECK(*again == stored);
}

TEST_CASE("definitions in v1beta1 get their common settings in each version", "[upstream]") {
  const auto old = read_golden<apiextensions::v1::CustomResourceDefinition>(
      "/registry/apiextensions.k8s.io/customresourcedefinitions/olds.example.com");
  REQUIRE(old.spec().versions_size() == 1);
  const auto& version = old.spec().versions(0);
  CHECK(version.name() == "v1");
  CHECK(version.served());
  CHECK(version.additional_printer_columns(0).json_path() == ".a");
  CHECK(version.schema().open_api_v3_schema().raw().find("preserve-unknown") != std::string::npos);
}

TEST_CASE("an encrypted value names its provider and its key", "[upstream]") {
  const auto found = find_encryption("k8s:enc:aescbc:v1:key1:bytes");
  REQUIRE(found);
  CHECK(found->provider == "aescbc");
  CHECK(found->key == "key1");
  CHECK(find_encryption("k8s:enc:kms:v2:")->provider == "kms");
  CHECK(find_encryption("k8s:enc:"));
  CHECK_FALSE(find_encryption("k8s\0"));
}

TEST_CASE("a truncated value is refused or read, and never mistaken for another", "[upstream]") {
  const auto& kind = kind_of<core::v1::Pod>();
  const auto whole = golden_of("/registry/pods/golden/large");
  std::size_t refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size)
    if (!from_upstream(&kind, whole.substr(0, size))) ++refused;
  CHECK(refused > whole.size() - 10);
  CHECK_FALSE(from_upstream(&kind, golden_of("/registry/secrets/golden/secret")));
}

}  // namespace troupe::api

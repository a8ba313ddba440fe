// Values as kube-apiserver 1.20.2 stores them (tests/golden-1.20/README.md): decoded and encoded
// again.
#include "api/storage/upstream_form.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>

#include "api/codec/codec.hpp"
#include "api/codec/envelope.hpp"
#include "api/codec/go_json.hpp"
#include "api/codec/type_plan.hpp"
#include "api/equality.hpp"
#include "api/object/object.hpp"
#include "api/schema/apiextensions_v1.pb.h"
#include "api/schema/autoscaling_hpa_v1.pb.h"
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
#include "support/random_message.hpp"

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

using upstream_definition = apiextensions::v1::CustomResourceDefinition;
using upstream_autoscaler = autoscaling::v2::HorizontalPodAutoscaler;

std::string stored_from(const kind_info& kind, std::string_view json) {
  const auto read = decode(json, media::json, &kind);
  INFO((read ? std::string{} : read.error().message));
  REQUIRE(read);
  return to_storage(kind, *read->content);
}

autoscaling::v1::HorizontalPodAutoscaler autoscaler_v1_in(std::string_view written) {
  const auto opened = open_envelope(written);
  REQUIRE(opened);
  REQUIRE(opened->api_version == "autoscaling/v1");
  autoscaling::v1::HorizontalPodAutoscaler seen;
  REQUIRE(seen.ParseFromArray(opened->raw.data(), static_cast<int>(opened->raw.size())));
  return seen;
}

// A schema with some of the members that Go writes, in its order.
std::string schema_as_written(random_source& random, int depth) {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (random() % 2 == 0) return;
    ((out += out.empty() ? "{\"" : ",\"") += name) += "\":" + value;
  };
  add("description", R"("a < b &\b \"c\"")");
  add("type", R"("object")");
  add("default", R"({"a":[null,false,""],"b":{}})");
  add("maximum", random() % 2 == 0 ? "0.5" : "12");
  add("enum", R"(["",1,null])");
  add("required", R"(["a"])");
  if (depth > 0) {
    add("items", schema_as_written(random, depth - 1));
    add("allOf", "[" + schema_as_written(random, depth - 1) + "]");
    add("properties", R"({"":)" + schema_as_written(random, depth - 1) + R"(,"type":)" +
                          schema_as_written(random, depth - 1) + "}");
    add("additionalProperties", random() % 2 == 0 ? "false" : "{}");
  }
  add("nullable", "true");
  add("x-kubernetes-list-map-keys", R"(["k"])");
  add("x-kubernetes-validations", R"([{"message":"m","rule":"self > 0"}])");
  return out.empty() ? "{}" : out + "}";
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
  const auto old = read_golden<upstream_definition>(
      "/registry/apiextensions.k8s.io/customresourcedefinitions/olds.example.com");
  REQUIRE(old.spec().versions_size() == 1);
  const auto& version = old.spec().versions(0);
  CHECK(version.name() == "v1");
  CHECK(version.served());
  CHECK(version.additional_printer_columns(0).json_path() == ".a");
  CHECK(version.schema().open_api_v3_schema().raw() ==
        R"({"type":"object","properties":{"a":{"type":"string"}}})");
  CHECK(old.spec().preserve_unknown_fields());
  const auto now = read_golden<upstream_definition>(
      "/registry/apiextensions.k8s.io/customresourcedefinitions/things.example.com");
  CHECK_FALSE(now.spec().preserve_unknown_fields());
}

// No golden value has these settings: the text is what upstream's conversion makes of them.
TEST_CASE("a definition is written in v1beta1 with upstream's order of members", "[upstream]") {
  const auto& kind = kind_of<upstream_definition>();
  const auto stored = stored_from(kind, R"({"apiVersion":"apiextensions.k8s.io/v1",
    "kind":"CustomResourceDefinition",
    "metadata":{"name":"a.b.c","creationTimestamp":"2026-01-01T00:00:00Z",
      "ownerReferences":[{"kind":"Node","name":"n","uid":"u","apiVersion":"v1"}]},
    "spec":{"group":"b.c","names":{"plural":"a","kind":"A"},"scope":"Cluster",
      "versions":[
        {"name":"v2","served":true,"storage":true,
         "schema":{"openAPIV3Schema":{"properties":{
           "b":{"nullable":false,"type":"string","default":null},
           "a":{"maximum":1.0,"type":"number","default":{"y":1,"x":2e0},"minLength":0}},
           "x-other":1,"required":[],"type":"object"}},
         "additionalPrinterColumns":[{"name":"A","type":"number","jsonPath":".a"}]},
        {"name":"v1","served":false,"storage":false,"deprecated":true,
         "schema":{"openAPIV3Schema":{"type":"object","description":"a > b"}},
         "additionalPrinterColumns":[{"name":"A","type":"number","jsonPath":".a"}]}],
      "conversion":{"strategy":"Webhook","webhook":{
        "clientConfig":{"caBundle":"AQ==","url":"https://x"},
        "conversionReviewVersions":["v1"]}}}})");
  const auto written = to_upstream(&kind, stored, 20);
  CHECK(written ==
        R"({"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1",)"
        R"("metadata":{"name":"a.b.c","creationTimestamp":"2026-01-01T00:00:00Z",)"
        R"("ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"u"}]},)"
        R"("spec":{"group":"b.c","version":"v2","names":{"plural":"a","kind":"A"},)"
        R"("scope":"Cluster","versions":[{"name":"v2","served":true,"storage":true,)"
        R"("schema":{"openAPIV3Schema":{"type":"object","properties":{)"
        R"("a":{"type":"number","default":{"x":2,"y":1},"maximum":1,"minLength":0},)"
        R"("b":{"type":"string"}},"x-other":1}}},)"
        R"({"name":"v1","served":false,"storage":false,"deprecated":true,)"
        R"("schema":{"openAPIV3Schema":{"description":"a \u003e b","type":"object"}}}],)"
        R"("additionalPrinterColumns":[{"name":"A","type":"number","JSONPath":".a"}],)"
        R"("conversion":{"strategy":"Webhook","webhookClientConfig":{"url":"https://x",)"
        R"("caBundle":"AQ=="},"conversionReviewVersions":["v1"]},"preserveUnknownFields":false},)"
        R"("status":{"conditions":null,"acceptedNames":{"plural":"","kind":""},)"
        R"("storedVersions":null}})"
        "\n");
  const auto again = from_upstream(&kind, written);
  REQUIRE(again);
  CHECK(to_upstream(&kind, *again, 20) == written);
  const auto content = body_from_storage(kind, *again);
  REQUIRE(content);
  const auto& spec = static_cast<const upstream_definition&>(**content).spec();
  CHECK(spec.versions(1).schema().open_api_v3_schema().raw() ==
        R"({"description":"a > b","type":"object"})");
  CHECK(spec.versions(1).additional_printer_columns_size() == 1);
  CHECK(spec.conversion().webhook().client_config().url() == "https://x");
}

TEST_CASE("a random definition is the same object after it was written for any release",
          "[upstream]") {
  const auto& kind = kind_of<upstream_definition>();
  random_options options;
  options.own = [](body& into, random_source& random) {
    if (into.GetDescriptor() != apiextensions::v1::JSONSchemaProps::descriptor()) return false;
    static_cast<apiextensions::v1::JSONSchemaProps&>(into).set_raw(schema_as_written(random, 2));
    return true;
  };
  std::size_t shared = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    CAPTURE(seed);
    options.style = seed % 3 == 0 ? random_options::mode::hostile : random_options::mode::realistic;
    const auto content = random_object(kind, seed, options);
    auto& made = static_cast<upstream_definition&>(*content);
    if (!made.has_spec()) continue;
    made.mutable_metadata()->clear_resource_version();
    auto& versions = *made.mutable_spec()->mutable_versions();
    for (auto& each : versions)
      if (seed % 2 == 0) *each.mutable_schema() = versions[0].schema();
    const auto stored = to_storage(kind, made);
    for (const int minor : {20, 21, 22, last_storage_minor}) {
      CAPTURE(minor);
      const auto written = to_upstream(&kind, stored, minor);
      if (minor == 20 && written.find(R"("validation":)") != written.npos) ++shared;
      const auto again = from_upstream(&kind, written);
      REQUIRE(again);
      if (*again != stored) FAIL_CHECK(difference(stored, *again));
      CHECK(to_upstream(&kind, *again, minor) == written);
    }
  }
  CHECK(shared > 100);
}

// No golden value has these metrics: the texts are what upstream's conversion makes of them.
TEST_CASE("an autoscaler is written in autoscaling/v1 with upstream's annotations", "[upstream]") {
  const auto& kind = kind_of<upstream_autoscaler>();
  const auto stored = stored_from(kind, R"({"apiVersion":"autoscaling/v2",
    "kind":"HorizontalPodAutoscaler","metadata":{"name":"x","namespace":"n"},
    "spec":{"scaleTargetRef":{"kind":"Deployment","name":"d"},"maxReplicas":3,"metrics":[
      {"type":"ContainerResource","containerResource":{"name":"cpu","container":"c",
        "target":{"type":"Utilization","averageUtilization":50}}},
      {"type":"Object","object":{"describedObject":{"kind":"Service","name":"s"},
        "metric":{"name":"a<b"},"target":{"type":"AverageValue","averageValue":"8"}}},
      {"type":"Pods","pods":{"metric":{"name":"p","selector":{"matchLabels":{"a":"b"}}},
        "target":{"type":"AverageValue","averageValue":"5"}}},
      {"type":"External","external":{"metric":{"name":"e","selector":{"matchLabels":{"a":"b"}}},
        "target":{"type":"Value","value":"9"}}},
      {"type":"Resource","resource":{"name":"cpu",
        "target":{"type":"Utilization","averageUtilization":70}}}],
      "behavior":{"scaleDown":{"selectPolicy":"Disabled"}}},
    "status":{"desiredReplicas":1,"conditions":[{"type":"AbleToScale","status":"True"}],
      "currentMetrics":[
        {"type":"Object","object":{"describedObject":{"kind":"Service","name":"s"},
          "metric":{"name":"o"},"current":{"value":"6"}}},
        {"type":"Resource","resource":{"name":"cpu",
          "current":{"averageUtilization":5,"averageValue":"20m"}}}]}})");
  const auto written = to_upstream(&kind, stored, 20);
  const auto old = autoscaler_v1_in(written);
  const auto& annotations = old.metadata().annotations();
  const std::string prefix = "autoscaling.alpha.kubernetes.io/";
  REQUIRE(annotations.size() == 4);
  CHECK(annotations.at(prefix + "metrics") ==
        R"([{"type":"ContainerResource","containerResource":{"name":"cpu",)"
        R"("targetAverageUtilization":50,"container":"c"}},)"
        R"({"type":"Object","object":{"target":{"kind":"Service","name":"s"},)"
        R"("metricName":"a\u003cb","targetValue":"0","averageValue":"8"}},)"
        R"({"type":"Pods","pods":{"metricName":"p","targetAverageValue":"5",)"
        R"("selector":{"matchLabels":{"a":"b"}}}},)"
        R"({"type":"External","external":{"metricName":"e",)"
        R"("metricSelector":{"matchLabels":{"a":"b"}},"targetValue":"9"}}])");
  CHECK(annotations.at(prefix + "current-metrics") ==
        R"([{"type":"Object","object":{"target":{"kind":"Service","name":"s"},)"
        R"("metricName":"o","currentValue":"6"}},{"type":"Resource","resource":{"name":"cpu",)"
        R"("currentAverageUtilization":5,"currentAverageValue":"20m"}}])");
  CHECK(annotations.at(prefix + "behavior") ==
        R"({"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":null,)"
        R"("SelectPolicy":"Disabled","Policies":null}})");
  CHECK(annotations.at(prefix + "conditions") ==
        R"([{"type":"AbleToScale","status":"True","lastTransitionTime":null}])");
  CHECK(old.spec().target_cpu_utilization_percentage() == 70);
  CHECK(old.status().current_cpu_utilization_percentage() == 5);
  const auto again = from_upstream(&kind, written);
  REQUIRE(again);
  CHECK(*again == stored);
}

TEST_CASE("an autoscaler that autoscaling/v1 would change is written in autoscaling/v2beta2",
          "[upstream]") {
  const auto& kind = kind_of<upstream_autoscaler>();
  constexpr auto cpu = R"({"type":"Resource","resource":{"name":"cpu",
    "target":{"type":"Utilization","averageUtilization":70}}})";
  constexpr auto memory = R"({"type":"Resource","resource":{"name":"memory",
    "target":{"type":"AverageValue","averageValue":"1Gi"}}})";
  constexpr auto two_values = R"({"type":"Resource","resource":{"name":"memory",
    "target":{"type":"Utilization","averageUtilization":70,"averageValue":"1Gi"}}})";
  constexpr auto other_type = R"({"type":"External","external":{"metric":{"name":"e"},
    "target":{"type":"AverageValue","value":"9"}}})";
  const auto version_with = [&](std::initializer_list<std::string> metrics) {
    std::string list;
    for (const auto& each : metrics)
      list += (list.empty() ? "" : ",") + each;
    const auto written =
        to_upstream(&kind,
                    stored_from(kind, R"({"metadata":{"name":"x","namespace":"n"},"spec":{)"
                                      R"("maxReplicas":3,"metrics":[)" +
                                          list + "]}}"),
                    20);
    return std::string{open_envelope(written)->api_version};
  };
  CHECK(version_with({cpu}) == "autoscaling/v1");
  CHECK(version_with({memory, cpu}) == "autoscaling/v1");
  CHECK(version_with({cpu, memory}) == "autoscaling/v2beta2");
  CHECK(version_with({two_values}) == "autoscaling/v1");
  CHECK(version_with({other_type}) == "autoscaling/v2beta2");
}

TEST_CASE("a random autoscaler is the same object after it was written for any release",
          "[upstream]") {
  const auto& kind = kind_of<upstream_autoscaler>();
  std::size_t in_v1 = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    random_options options;
    options.style = seed % 3 == 0 ? random_options::mode::hostile : random_options::mode::realistic;
    const auto content = random_object(kind, seed, options);
    auto& made = static_cast<upstream_autoscaler&>(*content);
    made.mutable_spec()->set_max_replicas(3);
    // Metrics of random types are unlikely to fit.
    if (seed % 2 == 0) {
      made.mutable_spec()->clear_metrics();
      made.mutable_status()->clear_current_metrics();
    }
    const auto stored = to_storage(kind, made);
    const auto before = body_from_storage(kind, stored);
    REQUIRE(before);
    for (int minor = first_storage_minor; minor <= last_storage_minor; ++minor) {
      CAPTURE(minor);
      const auto written = to_upstream(&kind, stored, minor);
      if (minor == 20 && open_envelope(written)->api_version == "autoscaling/v1") ++in_v1;
      const auto again = from_upstream(&kind, written);
      REQUIRE(again);
      const auto now = body_from_storage(kind, *again);
      REQUIRE(now);
      INFO((*before)->ShortDebugString() << "\n" << (*now)->ShortDebugString());
      CHECK(same_meaning(**now, **before));
      CHECK(to_upstream(&kind, *again, minor) == written);
    }
  }
  CHECK(in_v1 > 100);
  CHECK(in_v1 < 300);
}

TEST_CASE("JSON is written with Go's escapes and numbers", "[upstream]") {
  CHECK(
      as_go_writes(R"({"a":"<\b\f\u001F\"&>","b":[1e-07,1e+20,1e-06,-2.5e+21,10],"c":"1e-07"})") ==
      R"({"a":"\u003c\u0008\u000c\u001f\"\u0026\u003e","b":[1e-7,100000000000000000000,)"
      R"(0.000001,-2.5e+21,10],"c":"1e-07"})");
  CHECK(as_go_writes("\"a\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xA6\\\\b\"") ==
        "\"a\\u2028\\u2029\xE2\x80\xA6\\\\b\"");
  CHECK(as_go_writes(R"(["",{},null,true])") == R"(["",{},null,true])");
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

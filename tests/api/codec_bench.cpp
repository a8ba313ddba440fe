// The speed of the codecs on a pod of three kilobytes, and the memory of such a pod.
#include <google/protobuf/message.h>
#include <malloc.h>

#include <catch2/catch.hpp>
#include <cstdio>

#include "api/codec/codec.hpp"
#include "api/definitions/served_kinds.hpp"
#include "api/object/custom_body.hpp"
#include "api/object/object.hpp"
#include "api/schema/core_v1.pb.h"
#include "api/scheme.hpp"
#include "api/validation/field_errors.hpp"
#include "api/version_rules.hpp"
#include "support/cpu_time.hpp"
#include "support/random_message.hpp"
#include "support/typical_pod.hpp"

namespace troupe::api {
namespace {

// As a client would post it and a kubelet would report on it: about 3 KB of JSON.

// Calls `work` for about half a second; prints and returns megabytes of JSON a second.
template <class Work>
double megabytes_per_second(const char* name, std::size_t size_bytes, const Work& work) {
  for (int i = 0; i < 200; ++i)
    work();
  const double start = test::cpu_seconds();
  int rounds = 0;
  double took = 0;
  for (; took < 0.5; took = test::cpu_seconds() - start, rounds += 100)
    for (int i = 0; i < 100; ++i)
      work();
  const double rate = static_cast<double>(size_bytes) * rounds / took / 1e6;
  std::printf("%-34s %8.0f MB/s %10.2f us\n", name, rate, took / rounds * 1e6);
  return rate;
}

std::size_t allocated_bytes() {
  return mallinfo2().uordblks;
}

}  // namespace

TEST_CASE("the codecs keep up with the disk", "[.bench]") {
  const kind_info& kind = kind_of<core::v1::Pod>();
  const auto pod = decode(test::typical_pod, media::json, &kind);
  REQUIRE(pod);
  const std::string json = encode_json(*pod->content, "v1", "Pod");
  const std::string protobuf = encode_protobuf(*pod->content, "v1", "Pod");
  const std::string yaml = encode_yaml(*pod->content, "v1", "Pod");
  std::printf("pod: %zu bytes of JSON, %zu of protobuf, %zu of YAML\n", json.size(),
              protobuf.size(), yaml.size());
  decode_options strict;
  strict.fields = field_validation::strict;
  std::size_t sum = 0;
  const double in = megabytes_per_second("JSON decode", json.size(), [&] {
    sum += decode(json, media::json, &kind)->content != nullptr;
  });
  megabytes_per_second("JSON decode, strict", json.size(), [&] {
    sum += decode(json, media::json, &kind, strict)->content != nullptr;
  });
  const double out = megabytes_per_second(
      "JSON encode", json.size(), [&] { sum += encode_json(*pod->content, "v1", "Pod").size(); });
  megabytes_per_second("protobuf decode", protobuf.size(), [&] {
    sum += decode(protobuf, media::protobuf, &kind)->content != nullptr;
  });
  megabytes_per_second("protobuf encode", protobuf.size(),
                       [&] { sum += encode_protobuf(*pod->content, "v1", "Pod").size(); });
  megabytes_per_second("storage decode", protobuf.size(),
                       [&] { sum += object::from_storage(kind, protobuf, 1).value()->revision(); });
  megabytes_per_second("storage encode", protobuf.size(),
                       [&] { sum += to_storage(kind, *pod->content).size(); });
  megabytes_per_second("YAML decode", yaml.size(),
                       [&] { sum += decode(yaml, media::yaml, &kind)->content != nullptr; });
  REQUIRE(sum != 0);
  CHECK(in >= 150);
  CHECK(out >= 150);
}

TEST_CASE("an object of a custom kind is read, completed and checked", "[.bench]") {
  std::string fields, values;
  for (int part = 0; part < 20; ++part) {
    std::string properties;
    for (int field = 0; field < 69; ++field)
      properties += (field == 0 ? "" : ",") + ("\"field" + std::to_string(field)) +
                    R"(":{"type":"string","maxLength":253,"pattern":"^[a-z0-9-]*$"})";
    const auto name = (part == 0 ? "\"part" : ",\"part") + std::to_string(part) + "\":";
    fields += name + R"({"type":"object","properties":{)" + properties + "}}";
    values += name + R"({"field0":")" + std::string(60, 'v') +
              R"(","field1":"one","field2":"two","field3":"three","field4":"four"})";
  }
  apiextensions::v1::CustomResourceDefinition definition;
  auto& spec = *definition.mutable_spec();
  spec.set_group("bench.example.com");
  spec.mutable_names()->set_plural("things");
  spec.mutable_names()->set_kind("Thing");
  auto& version = *spec.add_versions();
  version.set_name("v1");
  version.set_storage(true);
  version.mutable_schema()->mutable_open_api_v3_schema()->set_raw(
      R"({"type":"object","properties":{"spec":{"type":"object","properties":{)" + fields + "}}}}");
  const auto made = definitions::served_kinds(
      std::make_shared<const object>(
          kind_of<apiextensions::v1::CustomResourceDefinition>(),
          std::make_unique<apiextensions::v1::CustomResourceDefinition>(definition), 1),
      0);
  const auto kind = kind_info::make_custom(made.front().options, made.front().rules, {});
  const std::string json = R"({"metadata":{"name":"a"},"spec":{)" + values + "}}";
  decode_options warn;
  warn.fields = field_validation::warn;
  std::size_t wrong = 0;
  megabytes_per_second("custom: read, complete, check", json.size(), [&] {
    auto read = decode(json, media::json, kind.get(), warn);
    auto& content = as_custom(*read->content);
    wrong += kind->rules()->complete(content, field_validation::warn)->size();
    field_errors found;
    kind->rules()->check(found, content, nullptr, version_rules::part::object);
    wrong += found.size();
  });
  CHECK(wrong == 0);
}

TEST_CASE("a typical pod takes a few kilobytes of memory", "[.bench]") {
  const kind_info& kind = kind_of<core::v1::Pod>();
  const auto pod = decode(test::typical_pod, media::json, &kind);
  REQUIRE(pod);
  const std::string stored = to_storage(kind, *pod->content);
  constexpr int count = 1000;
  std::vector<object_ptr> objects;
  objects.reserve(count);
  const std::size_t empty = allocated_bytes();
  for (int i = 0; i < count; ++i)
    objects.push_back(*object::from_storage(kind, stored, i + 1));
  const std::size_t decoded_only = allocated_bytes();
  for (const auto& each : objects)
    each->json();
  const std::size_t with_json = allocated_bytes();
  std::printf("object: %zu bytes decoded, %zu more with its JSON (%zu stored)\n",
              (decoded_only - empty) / count, (with_json - decoded_only) / count, stored.size());
}

}  // namespace troupe::api

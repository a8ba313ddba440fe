// Kubernetes' protobuf envelope, and its use by Go clients.
#include <catch2/catch.hpp>

#include "api/codec/codec.hpp"
#include "api/codec/envelope.hpp"
#include "api/codec/wire_writer.hpp"
#include "api/schema/core_v1.pb.h"
#include "api/schema/meta_request.pb.h"
#include "api/scheme.hpp"

namespace troupe::api {
namespace {

std::string enveloped(std::string_view raw, std::string_view api_version = "v1",
                      std::string_view kind = "Pod") {
  std::string out;
  append_envelope_head(out, api_version, kind, raw.size());
  out += raw;
  append_envelope_tail(out);
  return out;
}

core::v1::Pod read(std::string_view raw) {
  auto made = decode(enveloped(raw), media::protobuf, nullptr);
  INFO((made ? std::string() : made.error().message));
  REQUIRE(made);
  return static_cast<const core::v1::Pod&>(*made->content);
}

std::string refusal(std::string_view bytes) {
  auto made = decode(bytes, media::protobuf, &kind_of<core::v1::Pod>());
  REQUIRE_FALSE(made);
  CHECK(made.error().code == 400);
  return made.error().message;
}

}  // namespace

TEST_CASE("the envelope is byte for byte the one that Kubernetes writes") {
  core::v1::Pod pod;
  pod.mutable_metadata()->set_name("a");
  const std::string expected(
      "k8s\0"
      "\x0A\x09\x0A\x02v1\x12\x03Pod"
      "\x12\x05\x0A\x03\x0A\x01"
      "a"
      "\x1A\x00\x22\x00",
      26);
  CHECK(encode_protobuf(pod, "v1", "Pod") == expected);
}

TEST_CASE("zeros that Go clients write for fields that are no pointers mean absent") {
  core::v1::Pod given;
  given.mutable_metadata()->set_name("a");
  given.mutable_metadata()->set_generate_name("");
  given.mutable_metadata()->set_generation(0);
  given.mutable_metadata()->mutable_creation_timestamp();
  given.mutable_spec()->set_node_name("");
  given.mutable_spec()->set_host_network(false);
  given.mutable_spec()->set_termination_grace_period_seconds(0);
  auto& container = *given.mutable_spec()->add_containers();
  container.set_name("c");
  container.add_ports()->set_host_port(0);
  container.mutable_resources();
  given.mutable_spec()->add_volumes()->mutable_volume_source();
  given.mutable_status();
  const auto pod = read(given.SerializeAsString());
  CHECK_FALSE(pod.metadata().has_generate_name());
  CHECK_FALSE(pod.metadata().has_generation());
  CHECK_FALSE(pod.metadata().has_creation_timestamp());
  CHECK_FALSE(pod.spec().has_node_name());
  CHECK_FALSE(pod.spec().has_host_network());
  CHECK(pod.spec().has_termination_grace_period_seconds());
  CHECK_FALSE(pod.spec().containers(0).ports(0).has_host_port());
  CHECK_FALSE(pod.spec().volumes(0).has_volume_source());
  CHECK_FALSE(pod.has_status());
}

TEST_CASE("quantities and times take their form") {
  core::v1::Pod given;
  (*given.mutable_spec()->mutable_overhead())["cpu"].set_string("0.1");
  given.mutable_metadata()->mutable_creation_timestamp()->set_seconds(5);
  given.mutable_metadata()->mutable_creation_timestamp()->set_nanos(7);
  const auto pod = read(given.SerializeAsString());
  CHECK(pod.spec().overhead().at("cpu").string() == "100m");
  CHECK(pod.metadata().creation_timestamp().seconds() == 5);
  CHECK_FALSE(pod.metadata().creation_timestamp().has_nanos());
  (*given.mutable_spec()->mutable_overhead())["cpu"].set_string("lots");
  CHECK(refusal(enveloped(given.SerializeAsString())).find("field overhead is malformed") !=
        std::string::npos);
}

TEST_CASE("fields that the schema does not know are dropped") {
  wire::writer raw;
  raw.begin(1);
  raw.bytes(1, "a");
  raw.bytes(500, "unknown");
  raw.end();
  raw.varint(99, 7);
  const auto pod = read(raw.str());
  CHECK(pod.metadata().name() == "a");
  CHECK(pod.GetReflection()->GetUnknownFields(pod).empty());
  CHECK(pod.metadata().GetReflection()->GetUnknownFields(pod.metadata()).empty());
}

TEST_CASE("broken envelopes and messages are refused") {
  const std::string complete = enveloped(
      "\x0A\x03\x0A\x01"
      "a");
  for (std::size_t size = 0; size < complete.size() - 4; ++size) {
    INFO(size);
    const auto made = decode(complete.substr(0, size), media::protobuf, &kind_of<core::v1::Pod>());
    // If it is cut at the end of a field, the envelope is empty, which is an empty object.
    if (made) CHECK((size == 4 || size == 15));
    if (!made) CHECK(made.error().code == 400);
  }
  CHECK(refusal("").find("does not begin with") != std::string::npos);
  CHECK(refusal("{}").find("does not begin with") != std::string::npos);
  CHECK(refusal(enveloped("\x0A\x7F\x0A\x01"
                          "a"))
            .find("is cut off or malformed") != std::string::npos);
  CHECK(refusal(enveloped(std::string("\x08\x01", 2))).find("field metadata is malformed") !=
        std::string::npos);
  CHECK(refusal(enveloped("", "v1", "Service")).find("does not match the expected kind") !=
        std::string::npos);
  CHECK(refusal(enveloped("", "v3", "Pod")).find("does not match the expected API version") !=
        std::string::npos);
}

TEST_CASE("raw values must be JSON") {
  core::v1::Pod given;
  auto& fields = *given.mutable_metadata()->add_managed_fields()->mutable_fields_v1();
  fields.set_raw("{\"f:a\":{}}");
  CHECK(read(given.SerializeAsString()).metadata().managed_fields(0).fields_v1().raw() ==
        "{\"f:a\":{}}");
  for (const char* raw : {"{", "k8s", "{} {}"}) {
    fields.set_raw(raw);
    CHECK(refusal(enveloped(given.SerializeAsString())).find("field fieldsV1 is malformed") !=
          std::string::npos);
  }
  fields.set_raw(std::string(20'000, '[') + std::string(20'000, ']'));
  refusal(enveloped(given.SerializeAsString()));
}

TEST_CASE("times beyond the calendar are refused") {
  core::v1::Pod given;
  given.mutable_metadata()->mutable_creation_timestamp()->set_seconds(
      std::numeric_limits<std::int64_t>::max());
  CHECK(refusal(enveloped(given.SerializeAsString())).find("creationTimestamp") !=
        std::string::npos);
}

TEST_CASE("many empty messages cost a bounded amount") {
  wire::writer raw;
  raw.begin(2);
  for (int i = 0; i < 1'000'000; ++i) {
    raw.begin(2);
    raw.end();
  }
  raw.end();
  CHECK(refusal(enveloped(raw.str())).find("describes too much") != std::string::npos);
}

TEST_CASE("numbers of a list may come packed") {
  wire::writer raw;
  raw.begin(2);   // spec
  raw.begin(14);  // securityContext
  raw.bytes(4, std::string("\x01\x80\x08\x00", 4));
  raw.end();
  raw.end();
  const auto pod = read(raw.str());
  REQUIRE(pod.spec().security_context().supplemental_groups_size() == 3);
  CHECK(pod.spec().security_context().supplemental_groups(1) == 1024);
  CHECK(pod.spec().security_context().supplemental_groups(2) == 0);
}

TEST_CASE("bytes that are no text are replaced, as JSON would have to") {
  wire::writer raw;
  raw.begin(1);
  raw.bytes(1,
            "a\xB5"
            "b");
  raw.begin(11);
  raw.bytes(1, "k\xFF");
  raw.bytes(2, "v\xC3");
  raw.end();
  raw.end();
  const auto pod = read(raw.str());
  CHECK(pod.metadata().name() ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(pod.metadata().labels().at("k\xEF\xBF\xBD") == "v\xEF\xBF\xBD");
  const auto again = decode(encode_json(pod, "v1", "Pod"), media::json, nullptr);
  REQUIRE(again);
  CHECK(again->content->SerializeAsString() == pod.SerializeAsString());
}

TEST_CASE("JSON within protobuf loses its white space, and a null is nothing") {
  const auto fields = [](std::string_view json) {
    wire::writer raw;
    raw.begin(1);
    raw.begin(17);
    raw.begin(7);
    raw.bytes(1, json);
    for (int i = 0; i < 3; ++i)
      raw.end();
    return read(raw.str()).metadata().managed_fields(0).fields_v1().raw();
  };
  CHECK(fields("{ \"a\" : [1, 2.50, \"x\"] }") == R"({"a":[1,2.50,"x"]})");
  CHECK(fields("null").empty());
}

TEST_CASE("an amount that a map only names is zero") {
  wire::writer raw;
  for (const int number : {2, 2, 8, 1})  // spec.containers[0].resources.limits
    raw.begin(static_cast<std::uint32_t>(number));
  raw.bytes(1, "cpu");
  for (int i = 0; i < 4; ++i)
    raw.end();
  const auto pod = read(raw.str());
  CHECK(pod.spec().containers(0).resources().limits().at("cpu").string() == "0");
}

TEST_CASE("the envelope may hold JSON") {
  std::string bytes("k8s\0", 4);
  wire::append_bytes(bytes, 1, std::string("\x0A\x02v1\x12\x03Pod", 9));
  wire::append_bytes(bytes, 2, R"({"metadata":{"name":"a"}})");
  wire::append_bytes(bytes, 4, "application/json");
  const auto made = decode(bytes, media::protobuf, nullptr);
  REQUIRE(made);
  CHECK(static_cast<const core::v1::Pod&>(*made->content).metadata().name() == "a");
  wire::append_bytes(bytes, 3, "gzip");
  CHECK(refusal(bytes).find("contentEncoding is not supported") != std::string::npos);
}

TEST_CASE("a message that is no kind is read into place") {
  meta::v1::DeleteOptions given;
  given.set_propagation_policy("Background");
  meta::v1::DeleteOptions into;
  const auto warnings = decode_into(enveloped(given.SerializeAsString(), "v1", "DeleteOptions"),
                                    media::protobuf, into);
  REQUIRE(warnings);
  CHECK(into.propagation_policy() == "Background");
  REQUIRE(decode_into(R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0})",
                      media::json, into));
  CHECK(into.has_grace_period_seconds());
  CHECK_FALSE(into.has_propagation_policy());
}

}  // namespace troupe::api

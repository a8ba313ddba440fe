// The mapping of JSON to typed objects: Kubernetes' forms, zeros, nulls, and refusals.
#include <catch2/catch.hpp>

#include "api/codec/codec.hpp"
#include "api/limits.hpp"
#include "api/schema/core_v1.pb.h"
#include "api/scheme.hpp"
#include "support/random_message.hpp"

namespace troupe::api {
namespace {

decode_options with(field_validation fields) {
  decode_options options;
  options.fields = fields;
  return options;
}

template <class T>
T read(std::string_view json, field_validation fields = field_validation::strict) {
  auto made = decode(json, media::json, &kind_of<T>(), with(fields));
  INFO((made ? std::string() : made.error().message));
  REQUIRE(made);
  return static_cast<const T&>(*made->content);
}

template <class T>
std::string refusal(std::string_view json, field_validation fields = field_validation::ignore) {
  auto made = decode(json, media::json, &kind_of<T>(), with(fields));
  REQUIRE_FALSE(made);
  CHECK(made.error().code == 400);
  CHECK(made.error().reason == "BadRequest");
  return made.error().message;
}

// The spec of a pod after decoding and encoding.
std::string respec(const std::string& spec) {
  const auto pod = read<core::v1::Pod>(R"({"spec":)" + spec + "}", field_validation::ignore);
  std::string out = encode_json(pod.spec(), {}, {});
  return out;
}

}  // namespace

TEST_CASE("kind and apiVersion come first, then the fields") {
  core::v1::ConfigMap map;
  map.mutable_metadata()->set_name("a");
  (*map.mutable_data())["z"] = "1";
  (*map.mutable_data())["b"] = "2";
  CHECK(
      encode_json(map, "v1", "ConfigMap") ==
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"b":"2","z":"1"}})");
  CHECK(encode_json(map.metadata(), {}, {}) == R"({"name":"a"})");
}

TEST_CASE("inlined fields stand in the object of their parent") {
  CHECK(respec(R"({"volumes":[{"name":"v","configMap":{"name":"c","optional":false}}]})") ==
        R"({"volumes":[{"name":"v","configMap":{"name":"c","optional":false}}]})");
  const auto pod = read<core::v1::Pod>(
      R"({"spec":{"volumes":[{"emptyDir":{},"name":"v"}],
      "containers":[{"name":"c","livenessProbe":{"exec":{"command":["x","y"]},"periodSeconds":3}}]}})");
  CHECK(pod.spec().volumes(0).volume_source().has_empty_dir());
  const auto& probe = pod.spec().containers(0).liveness_probe();
  CHECK(probe.handler().exec().command_size() == 2);
  CHECK(probe.period_seconds() == 3);
}

TEST_CASE("an empty object stays present, an empty list or map and null are absent") {
  const auto pod = read<core::v1::Pod>(
      R"({"metadata":{"labels":{},"annotations":null,"finalizers":[],"deletionTimestamp":null},
      "spec":{"securityContext":{},"affinity":null,"containers":null,"hostname":null}})");
  CHECK(pod.spec().has_security_context());
  CHECK_FALSE(pod.spec().has_affinity());
  CHECK_FALSE(pod.spec().has_hostname());
  CHECK_FALSE(pod.metadata().has_deletion_timestamp());
  CHECK(pod.metadata().labels().empty());
}

TEST_CASE("null in a list or map, which cannot leave a place empty, is the zero of its type") {
  const auto pod = read<core::v1::Pod>(
      R"({"metadata":{"labels":{"a":null}},"spec":{"containers":[null,{"args":["x",null]}]}})");
  CHECK(pod.metadata().labels().at("a").empty());
  REQUIRE(pod.spec().containers_size() == 2);
  CHECK(pod.spec().containers(1).args(1).empty());
}

TEST_CASE("zero means absent, but for fields in which it is a value") {
  const auto pod = read<core::v1::Pod>(
      R"({"spec":{"hostNetwork":false,"nodeName":"","terminationGracePeriodSeconds":0,
      "containers":[{"ports":[{"hostPort":0,"containerPort":80}],"stdin":false}]}})");
  CHECK_FALSE(pod.spec().has_host_network());
  CHECK_FALSE(pod.spec().has_node_name());
  CHECK(pod.spec().has_termination_grace_period_seconds());
  CHECK_FALSE(pod.spec().containers(0).ports(0).has_host_port());
  CHECK(respec(R"({"terminationGracePeriodSeconds":0,"nodeName":""})") ==
        R"({"terminationGracePeriodSeconds":0})");
  const auto rc = read<core::v1::ReplicationController>(R"({"spec":{"replicas":0}})");
  CHECK(rc.spec().has_replicas());
}

TEST_CASE("quantities are read from strings and numbers and kept in their one form") {
  CHECK(respec(R"({"containers":[{"name":"c","resources":{"limits":
      {"cpu":0.1,"memory":"1024Mi","a":2,"b":"1000m","c":1e3,"d":null}}}]})") ==
        R"({"containers":[{"name":"c","resources":{"limits":)"
        R"({"a":"2","b":"1","c":"1e3","cpu":"100m","d":"0","memory":"1Gi"}}}]})");
  CHECK(refusal<core::v1::Pod>(
            R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"1 core"}}}]}})") ==
        "Pod in version \"v1\" cannot be handled as a Pod: json: field "
        "spec.containers[0].resources.limits.cpu: quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
}

TEST_CASE("ports may be numbers or names") {
  const auto pod = read<core::v1::Pod>(
      R"({"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":8080}},
      "readinessProbe":{"httpGet":{"port":"http"}}}]}})");
  const auto& c = pod.spec().containers(0);
  CHECK(c.liveness_probe().handler().http_get().port().int_val() == 8080);
  CHECK(c.readiness_probe().handler().http_get().port().str_val() == "http");
  CHECK(encode_json(c.liveness_probe().handler().http_get(), {}, {}) == R"({"port":8080})");
  CHECK(encode_json(c.readiness_probe().handler().http_get(), {}, {}) == R"({"port":"http"})");
  refusal<core::v1::Pod>(
      R"({"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":80.5}}}]}})");
}

TEST_CASE("times lose their fraction, micro times keep six digits") {
  const auto pod =
      read<core::v1::Pod>(R"({"metadata":{"creationTimestamp":"2020-01-02T03:04:05.678+01:00"}})");
  CHECK(encode_json(pod, {}, {}).find(R"("creationTimestamp":"2020-01-02T02:04:05Z")") !=
        std::string::npos);
  const auto event = read<core::v1::Event>(R"({"eventTime":"2020-01-02T03:04:05.678901234Z"})");
  CHECK(encode_json(event, {}, {}).find(R"("eventTime":"2020-01-02T03:04:05.678901Z")") !=
        std::string::npos);
  CHECK(refusal<core::v1::Pod>(R"({"metadata":{"creationTimestamp":"yesterday"}})")
            .find("field metadata.creationTimestamp must be an RFC 3339 time") !=
        std::string::npos);
}

TEST_CASE("bytes are base64") {
  const auto secret = read<core::v1::Secret>(R"({"data":{"k":"AP8=","empty":""}})");
  CHECK(secret.data().at("k") == std::string("\0\xFF", 2));
  CHECK(encode_json(secret, {}, {}).find(R"("data":{"empty":"","k":"AP8="})") != std::string::npos);
  CHECK(refusal<core::v1::Secret>(R"({"data":{"k":"A*=="}})")
            .find("illegal base64 data at input byte 1 in field data.k") != std::string::npos);
}

TEST_CASE("a value of any shape is kept as it came, but for white space") {
  const auto pod = read<core::v1::Pod>(
      R"({"metadata":{"managedFields":[{"manager":"m","fieldsV1": { "f:a" : [ 1.50, {}, [], "x\n" ] } }]}})");
  CHECK(pod.metadata().managed_fields(0).fields_v1().raw() == R"({"f:a":[1.50,{},[],"x\n"]})");
  CHECK(encode_json(pod.metadata(), {}, {}) ==
        R"({"managedFields":[{"manager":"m","fieldsV1":{"f:a":[1.50,{},[],"x\n"]}}]})");
}

TEST_CASE("fields that are always written stand there when they are absent") {
  const core::v1::Pod pod;
  const std::string json = encode_json(pod, "v1", "Pod");
  CHECK(json.find(R"("metadata":{)") != std::string::npos);
  const core::v1::ReplicationController rc;
  CHECK(encode_json(rc, {}, {}).find(R"("replicas":0)") != std::string::npos);
  const core::v1::GRPCAction action;
  CHECK(encode_json(action, {}, {}) == R"({"port":0,"service":null})");
}

TEST_CASE("integers are integers as Go reads them") {
  const auto rc = read<core::v1::ReplicationController>(R"({"spec":{"replicas":2147483647}})");
  CHECK(rc.spec().replicas() == 2147483647);
  const auto pod = read<core::v1::Pod>(R"({"metadata":{"generation":9223372036854775807}})");
  CHECK(pod.metadata().generation() == std::numeric_limits<std::int64_t>::max());
  for (const char* number : {"1.0", "1e3", "1.5", "2147483648", "-2147483649", "\"3\"", "true",
                             "{}", "[]", "99999999999999999999"}) {
    INFO(number);
    CHECK(refusal<core::v1::ReplicationController>(R"({"spec":{"replicas":)" + std::string(number) +
                                                   "}}")
              .find("into Go struct field ReplicationControllerSpec.spec.replicas of type int32") !=
          std::string::npos);
  }
}

TEST_CASE("a value of the wrong type is refused with its place") {
  CHECK(refusal<core::v1::Pod>(R"({"spec":{"containers":[{"name":"a"},{"name":5}]}})") ==
        "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal number into "
        "Go struct field Container.spec.containers.name of type string");
  CHECK(refusal<core::v1::Pod>(R"({"metadata":{"labels":{"a":{}}}})")
            .find("cannot unmarshal object into Go struct field ObjectMeta.metadata.labels of type "
                  "string") != std::string::npos);
  CHECK(refusal<core::v1::Pod>(R"({"metadata":{"labels":["a"]}})")
            .find("cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type "
                  "map[string]string") != std::string::npos);
  CHECK(refusal<core::v1::Pod>(R"({"spec":{"containers":{}}})")
            .find("cannot unmarshal object into Go struct field PodSpec.spec.containers of type "
                  "[]v1.Container") != std::string::npos);
  CHECK(refusal<core::v1::Pod>(R"({"spec":"x"})")
            .find("cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec") !=
        std::string::npos);
  CHECK(refusal<core::v1::Pod>(R"({"spec":{"hostNetwork":"true"}})")
            .find("cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type "
                  "bool") != std::string::npos);
  CHECK(refusal<core::v1::Pod>(R"({"kind":5})").find("kind of type string") != std::string::npos);
  CHECK(refusal<core::v1::Pod>("[]").find("not an object") != std::string::npos);
  CHECK(refusal<core::v1::Pod>("null").find("not an object") != std::string::npos);
}

TEST_CASE("a body that is no JSON is not recognized, in the words of upstream") {
  CHECK(refusal<core::v1::ConfigMap>("apiVersion: v1\nkind: ConfigMap\n") ==
        "the object provided is unrecognized (must be of type ConfigMap): couldn't get "
        "version/kind; json parse error: invalid character 'a' looking for beginning of value "
        "(61706956657273696f6e3a2076310a6b696e643a20436f6e6669674d6170 ...)");
  CHECK_THAT(refusal<core::v1::ConfigMap>(" \xff"),
             Catch::Contains("invalid character '\\xff'") && Catch::EndsWith("(20ff)"));
}

TEST_CASE("names of fields are case sensitive") {
  const auto pod = read<core::v1::Pod>(R"({"Spec":{"nodeName":"a"},"spec":{"nodename":"b"}})",
                                       field_validation::ignore);
  CHECK_FALSE(pod.spec().has_node_name());
}

TEST_CASE("strict validation refuses unknown and duplicate fields in the words of upstream") {
  const kind_info& deployment = *scheme::instance().find("apps/v1", "Deployment");
  const char* json = R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},
      "spec":{"baz":"baq","foo":"bar","replicas":3,"replicas":4,"selector":{},
      "template":{"spec":{"containers":[{"nested":{"deep":[1,{}]},"name":"c"}]}}},"unknown":1,
      "unknown":2})";
  auto refused = decode(json, media::json, &deployment, with(field_validation::strict));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message ==
        "Deployment in version \"v1\" cannot be handled as a Deployment: strict decoding error: "
        "unknown field \"spec.baz\", unknown field \"spec.foo\", duplicate field "
        "\"spec.replicas\", unknown field \"spec.template.spec.containers[0].nested\", unknown "
        "field \"unknown\"");
  auto warned = decode(json, media::json, &deployment, with(field_validation::warn));
  REQUIRE(warned);
  CHECK(warned->warnings.size() == 5);
  CHECK(warned->warnings[0] == "unknown field \"spec.baz\"");
  auto ignored = decode(json, media::json, &deployment, with(field_validation::ignore));
  REQUIRE(ignored);
  CHECK(ignored->warnings.empty());
}

TEST_CASE("duplicate keys of maps and of kind are found too") {
  const auto message = refusal<core::v1::Pod>(
      R"({"kind":"Pod","kind":"Pod","metadata":{"labels":{"b":"1","a":"1","b":"2"}}})",
      field_validation::strict);
  CHECK(message.find(R"(duplicate field "kind", duplicate field "metadata.labels.b")") !=
        std::string::npos);
}

TEST_CASE("a template does not name its kind, an item of a list may") {
  CHECK(refusal<core::v1::ReplicationController>(
            R"({"spec":{"template":{"kind":"Pod","metadata":{"name":"x"}}}})",
            field_validation::strict)
            .find("unknown field \"spec.template.kind\"") != std::string::npos);
  core::v1::PodList list;
  decode_options options;
  options.fields = field_validation::strict;
  const auto read = decode_into(
      R"({"kind":"PodList","apiVersion":"v1","items":[{"kind":"Pod","apiVersion":"v1"}]})",
      media::json, list, options);
  REQUIRE(read);
  CHECK(list.items_size() == 1);
}

TEST_CASE("a name that is too long for a message is cut before a character, not within") {
  const std::string most(limits::path_key_bytes - 1, 'k');
  const auto message =
      refusal<core::v1::Pod>("{\"" + most + "\u00e9\":1}", field_validation::strict);
  CHECK_THAT(message, Catch::Contains("unknown field \"" + most + "\""));
}

TEST_CASE("of duplicate fields the last one counts") {
  const auto pod = read<core::v1::Pod>(
      R"({"metadata":{"labels":{"a":"1","a":"2"}},"spec":{"nodeName":"a","nodeName":"b",
      "hostNetwork":true,"hostNetwork":false,
      "containers":[{"name":"x","args":["1","2"],"command":["c"],"args":["3"]}],
      "containers":[{"name":"y","args":["1","2"],"command":["c"],"args":["3"]}],
      "tolerations":[{"key":"k"}]}})",
      field_validation::ignore);
  CHECK(pod.metadata().labels().at("a") == "2");
  CHECK(pod.spec().node_name() == "b");
  CHECK_FALSE(pod.spec().host_network());
  REQUIRE(pod.spec().containers_size() == 1);
  CHECK(pod.spec().containers(0).name() == "y");
  REQUIRE(pod.spec().containers(0).args_size() == 1);
  CHECK(pod.spec().containers(0).args(0) == "3");
  CHECK(pod.spec().containers(0).command(0) == "c");
  CHECK(pod.spec().tolerations(0).key() == "k");
}

TEST_CASE("the document says its kind, or the request does") {
  auto named = decode(R"({"apiVersion":"v1","kind":"ConfigMap","data":{}})", media::json, nullptr);
  REQUIRE(named);
  CHECK(named->kind == &kind_of<core::v1::ConfigMap>());
  auto late = decode(R"({"spec":{"a":[{"kind":"no"}]},"kind":"Pod","apiVersion":"v1"})",
                     media::json, nullptr);
  REQUIRE(late);
  CHECK(late->kind == &kind_of<core::v1::Pod>());
  const auto message = [](std::string_view json, const kind_info* kind) {
    auto read = decode(json, media::json, kind);
    REQUIRE_FALSE(read);
    return read.error().message;
  };
  CHECK(message("{}", nullptr) == "Object 'Kind' is missing");
  CHECK(message(R"({"kind":"Pod"})", nullptr) == "Object 'apiVersion' is missing");
  CHECK(message(R"({"kind":"Unicorn","apiVersion":"v9"})", nullptr) ==
        "no kind \"Unicorn\" is registered for version \"v9\"");
  const kind_info* pod = &kind_of<core::v1::Pod>();
  CHECK(message(R"({"kind":"Service","apiVersion":"v1","spec":{"ports":[]}})", pod) ==
        "Service in version \"v1\" cannot be handled as a Pod: the kind in the data (Service) does "
        "not match the expected kind (Pod)");
  CHECK(message(R"({"kind":"Pod","apiVersion":"v2"})", pod) ==
        "Pod in version \"v2\" cannot be handled as a Pod: the API version in the data (v2) does "
        "not match the expected API version (v1)");
  // A wrong kind explains more than the first field that does not match.
  CHECK(message(R"({"spec":{"containers":5},"kind":"Service","apiVersion":"v1"})", pod)
            .find("the kind in the data (Service)") != std::string::npos);
}

TEST_CASE("text that is no JSON is refused with the place") {
  for (const char* text : {"", " ", "{", "{\"a\"", "{\"a\":}", "{\"a\":1,}", "{'a':1}", "{a:1}",
                           "{} {}", "{\"a\":01}", "{\"a\":+1}", "{\"a\":.5}", "{\"a\":\"\x01\"}",
                           "{\"a\":NaN}", "{\"a\":\"\\x\"}", "// c\n{}"}) {
    INFO(text);
    CHECK(refusal<core::v1::Pod>(text).find("json") != std::string::npos);
  }
  CHECK(refusal<core::v1::Pod>(std::string_view("{}\0{}", 5)).find("zero byte") !=
        std::string::npos);
}

TEST_CASE("bytes that are no UTF-8 become the replacement character") {
  const auto pod = read<core::v1::Pod>("{\"metadata\":{\"labels\":{\"k\xFF\":\"a\x80z\"}}}");
  CHECK(pod.metadata().labels().begin()->first == "k\xEF\xBF\xBD");
  CHECK(pod.metadata().labels().begin()->second == "a\xEF\xBF\xBDz");
}

TEST_CASE("escapes of strings are read") {
  const auto pod = read<core::v1::Pod>(
      R"({"metadata":{"name":"\u0041\n\"\\\/\ud83d\ude00","l\u0061bels":{"x":"y"}}})");
  CHECK(pod.metadata().name() == "A\n\"\\/\xF0\x9F\x98\x80");
  CHECK(pod.metadata().labels().at("x") == "y");
}

// Strings are read and written several characters at a time.
TEST_CASE("each character counts at each place of a string, before and after an escape") {
  const std::string plain = "abcdefghijklmnop";
  for (int byte = 0; byte < 256; ++byte)
    for (std::size_t at = 0; at <= plain.size(); ++at)
      for (const char* escaped : {"", "\\n"}) {
        const char c = static_cast<char>(byte);
        auto text = std::string{escaped} + plain;
        text.insert(text.size() - plain.size() + at, 1, c);
        INFO("byte " << byte << " at " << at << " in " << text);
        const auto json = "{\"metadata\":{\"name\":\"" + text + "\"}}";
        auto made = decode(json, media::json, &kind_of<core::v1::Pod>(), {});
        // A backslash begins an escape if it is before a letter of one.
        const bool is_escape = byte == '\\' && at < plain.size() &&
                               std::string_view{"bfn"}.find(plain[at]) != std::string_view::npos;
        const bool is_allowed = (byte >= 0x20 && byte != '"' && byte != '\\') || is_escape;
        REQUIRE(made.has_value() == is_allowed);
        if (!made || is_escape) continue;
        auto name = plain;
        name.insert(at, byte < 0x80 ? std::string(1, c) : "\xEF\xBF\xBD");
        if (*escaped != 0) name.insert(0, "\n");
        const auto& pod = static_cast<const core::v1::Pod&>(*made->content);
        REQUIRE(pod.metadata().name() == name);
        const auto written = encode_json(pod.metadata(), {}, {});
        REQUIRE(written ==
                "{\"name\":\"" + (*escaped != 0 ? "\\n" + name.substr(1) : name) + "\"}");
      }
}

}  // namespace troupe::api

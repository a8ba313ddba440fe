#include "api/selectors/selector.hpp"

#include <catch2/catch.hpp>

#include "api/schema/core_config.pb.h"
#include "api/schema/core_event.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/scheme.hpp"

using namespace troupe::api;

namespace {

label_map labels(std::initializer_list<std::pair<const char*, const char*>> pairs) {
  label_map made;
  for (const auto& [key, value] : pairs)
    made[key] = value;
  return made;
}

bool match(const char* text, const label_map& map) {
  const auto selector = label_selector::parse(text);
  REQUIRE(selector);
  return selector->matches(map);
}

std::string canonical(const char* text) {
  const auto selector = label_selector::parse(text);
  REQUIRE(selector);
  return selector->str();
}

std::string complaint(const char* text) {
  const auto selector = label_selector::parse(text);
  REQUIRE_FALSE(selector);
  CHECK(selector.error().code == 400);
  return selector.error().message;
}

field_selector fields(const kind_info& kind, const char* text) {
  auto made = field_selector::parse(kind, text);
  REQUIRE(made);
  return *made;
}

}  // namespace

TEST_CASE("label selectors compare as kubectl's -l does") {
  const auto web = labels({{"app", "web"}, {"tier", "front"}, {"n", "7"}});
  CHECK(match("", web));
  CHECK(match("app=web", web));
  CHECK(match("app==web , tier = front", web));
  CHECK_FALSE(match("app=web,tier=back", web));
  CHECK(match("app!=db", web));
  CHECK(match("app in (db,web)", web));
  CHECK_FALSE(match("app notin (db, web)", web));
  CHECK(match("tier", web));
  CHECK_FALSE(match("!tier", web));
  CHECK(match("n>6,n<8", web));
  CHECK_FALSE(match("app>1", web));
}

TEST_CASE("an absent label satisfies only the negative requirements") {
  const auto none = labels({});
  CHECK(match("a!=b", none));
  CHECK(match("a notin (b)", none));
  CHECK(match("!a", none));
  CHECK_FALSE(match("a", none));
  CHECK_FALSE(match("a=", none));
  CHECK_FALSE(match("a in (b,)", none));
  CHECK(match("a=", labels({{"a", ""}})));
  CHECK(match("a in (b,)", labels({{"a", ""}})));
}

TEST_CASE("equal selectors print the same canonical text") {
  CHECK(canonical("tier notin (b,a,b), app==web") == "app=web,tier notin (a,b)");
  CHECK(canonical("!x,in=notin,a in (in)") == "a=in,in=notin,!x");
  CHECK(canonical("x.io/a!=b") == "x.io/a!=b");
  CHECK(label_selector::parse("b,a=1").value() == label_selector::parse("a==1, b").value());
}

TEST_CASE("an invalid label selector is refused with the position") {
  CHECK(complaint("a=b=c") ==
        "unable to parse requirement: found '=', expected: ',' or end of selector");
  CHECK(complaint("a in b") == "unable to parse requirement: found 'b', expected: '('");
  CHECK(complaint("a in ()").find("values set can't be empty") != std::string::npos);
  CHECK(complaint("a in (b").find("',' or ')'") != std::string::npos);
  CHECK(complaint("a,").find("identifier after ','") != std::string::npos);
  CHECK(complaint(",a").find("expected: identifier") != std::string::npos);
  CHECK(complaint("!a=b").find("',' or end of selector") != std::string::npos);
  CHECK(complaint("-a=b").find("key: Invalid value: \"-a\"") != std::string::npos);
  CHECK(complaint("a=$(x)").find("values[a]: Invalid value") != std::string::npos);
  CHECK(complaint("a>b").find("must be an integer") != std::string::npos);
}

TEST_CASE("a LabelSelector message means its labels and all its expressions") {
  meta::v1::LabelSelector message;
  CHECK(label_selector::from(message)->everything());
  (*message.mutable_match_labels())["app"] = "web";
  auto& in = *message.add_match_expressions();
  in.set_key("tier");
  in.set_operator_("NotIn");
  in.add_values("back");
  const auto selector = label_selector::from(message);
  REQUIRE(selector);
  CHECK(selector->str() == "app=web,tier!=back");
  CHECK(selector->matches(labels({{"app", "web"}})));
  CHECK_FALSE(selector->matches(labels({{"app", "web"}, {"tier", "back"}})));
  in.set_operator_("Near");
  CHECK_FALSE(label_selector::from(message));
  in.set_operator_("Exists");
  CHECK_FALSE(label_selector::from(message));
}

TEST_CASE("a selector of nothing matches nothing") {
  CHECK_FALSE(label_selector::nothing().matches(labels({})));
  CHECK_FALSE(label_selector::nothing().everything());
}

TEST_CASE("field selectors compare the fields that the kind offers") {
  core::v1::Pod pod;
  pod.mutable_metadata()->set_name("a");
  pod.mutable_metadata()->set_namespace_("ns");
  pod.mutable_spec()->set_node_name("n1");
  const auto& pods = kind_of<core::v1::Pod>();
  CHECK(fields(pods, "").everything());
  CHECK(fields(pods, "spec.nodeName=n1,metadata.namespace==ns").matches(pod));
  CHECK_FALSE(fields(pods, "spec.nodeName=").matches(pod));
  CHECK(fields(pods, "status.phase!=Succeeded,status.phase!=Failed").matches(pod));
  CHECK(fields(pods, "status.podIP=").matches(pod));
  CHECK(fields(pods, "spec.hostNetwork=false").matches(pod));
  pod.mutable_spec()->set_host_network(true);
  CHECK(fields(pods, "spec.hostNetwork=true").matches(pod));
  CHECK(fields(pods, "spec.nodeName=n1,metadata.name=a").exact("metadata.name") == "a");
  CHECK_FALSE(fields(pods, "metadata.name!=a").exact("metadata.name"));
}

TEST_CASE("numbers, bools and components are selectable as text") {
  core::v1::ReplicationController rc;
  CHECK(fields(kind_of<core::v1::ReplicationController>(), "status.replicas=0").matches(rc));
  rc.mutable_status()->set_replicas(3);
  CHECK(fields(kind_of<core::v1::ReplicationController>(), "status.replicas=3").matches(rc));
  core::v1::Event event;
  event.mutable_source()->set_component("kubelet");
  event.mutable_involved_object()->set_kind("Pod");
  const auto& events = kind_of<core::v1::Event>();
  CHECK(fields(events, "source=kubelet,involvedObject.kind=Pod").matches(event));
  CHECK_FALSE(fields(events, "source!=kubelet").matches(event));
}

TEST_CASE("unknown fields and broken field selectors are refused") {
  const auto& pods = kind_of<core::v1::Pod>();
  const auto unknown = field_selector::parse(pods, "spec.foo=x");
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == 400);
  CHECK(unknown.error().message == "field label not supported: spec.foo");
  CHECK(field_selector::parse(kind_of<core::v1::ConfigMap>(), "data=x").error().message ==
        "\"data\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
  CHECK_FALSE(field_selector::parse(kind_of<core::v1::Node>(), "metadata.namespace=x"));
  CHECK_FALSE(field_selector::parse(pods, "status.phase"));
  CHECK_FALSE(field_selector::parse(pods, "status.phase!Running"));
  CHECK_FALSE(field_selector::parse(pods, "metadata.name=a=b"));
  const auto escaped = field_selector::parse(pods, "metadata.name=a\\,b\\=c");
  REQUIRE(escaped);
  CHECK(escaped->exact("metadata.name") == "a,b=c");
  CHECK_FALSE(field_selector::parse(pods, "metadata.name=a\\b"));
}

TEST_CASE("every selectable field of the schema exists") {
  for (const auto* kind : scheme::instance().all()) {
    for (const auto& path : kind->options().selectable_fields()) {
      INFO(kind->kind() << " " << path);
      CHECK(field_selector::parse(*kind, path + "=x"));
    }
  }
}

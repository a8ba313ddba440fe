// The v1beta1 API of 2014 and the hub version: a conversion there and back must be lossless.
#include "api/v1beta1/v1beta1.hpp"

#include <google/protobuf/message.h>
#include <google/protobuf/util/message_differencer.h>

#include <catch2/catch.hpp>

#include "api/conversion/conversion.hpp"
#include "api/equality.hpp"
#include "api/schema/core_binding.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/defaults.hpp"
#include "api/v1beta1/objects.pb.h"
#include "api/v1beta1/pod.pb.h"
#include "api/values/syntax.hpp"
#include "support/legacy_manifests.hpp"
#include "support/random_message.hpp"

namespace troupe::api {
namespace {

using google::protobuf::util::MessageDifferencer;

constexpr int seeds_per_kind = 200;

std::string difference(const body& expected, const body& actual) {
  MessageDifferencer differencer;
  differencer.set_message_field_comparison(MessageDifferencer::EQUAL);
  std::string out;
  differencer.ReportDifferencesToString(&out);
  differencer.Compare(expected, actual);
  return out;
}

// Calls check(kind, object) for objects of all kinds of v1beta1 that the hub has.
template <class Check>
void each_external(const Check& check) {
  for (const auto style : {random_options::mode::realistic, random_options::mode::hostile})
    for (const kind_info* kind : conversions::instance().all()) {
      if (conversions::instance().hub(*kind) == nullptr) continue;
      for (int seed = 0; seed < seeds_per_kind; ++seed) {
        INFO(kind->kind() << " seed " << seed << " style " << static_cast<int>(style));
        random_options options;
        options.style = style;
        random_source random(static_cast<std::uint64_t>(seed));
        auto made = kind->make();
        fill_random(*made, random, options);
        conversions::instance().set_defaults(*made);
        check(*kind, *made);
      }
    }
}

template <class T>
T read(std::string_view json) {
  auto made = conversions::instance().decode(json, media::json, nullptr);
  INFO((made ? std::string() : made.error().message));
  REQUIRE(made);
  REQUIRE(made->content->GetDescriptor() == T::descriptor());
  return static_cast<const T&>(*made->content);
}

template <class Hub, class External>
Hub hub_of(const External& external, const Hub* stored = nullptr) {
  return static_cast<const Hub&>(*v1beta1::to_hub(external, stored));
}

template <class External, class Hub>
External shown(const Hub& content) {
  const auto& kind = *conversions::instance().find("v1beta1", External::descriptor()->name());
  return static_cast<const External&>(*v1beta1::from_hub(content, kind));
}

constexpr std::string_view controller = R"({
  "id": "nginxController", "kind": "ReplicationController", "apiVersion": "v1beta1",
  "desiredState": {
    "replicas": 2, "replicaSelector": {"name": "nginx"},
    "podTemplate": {
      "desiredState": {"manifest": {"version": "v1beta1", "id": "any", "containers": [
        {"name": "nginx", "image": "dockerfile/nginx", "cpu": 500, "memory": 1048576,
         "env": [{"key": "A", "value": "1"}],
         "ports": [{"containerPort": 80, "hostPort": 8080}]}]},
        "restartpolicy": {"type": "RestartOnFailure"}},
      "labels": {"name": "nginx"}}},
  "labels": {"name": "nginx"}})";

}  // namespace

TEST_CASE("a v1beta1 object of any kind comes back from the hub as it was") {
  each_external([](const kind_info& kind, const body& object) {
    const auto hub = v1beta1::to_hub(object);
    const auto back = v1beta1::from_hub(*hub, kind);
    REQUIRE(same_meaning(object, *back));
    // The hub's storage form must not lose anything.
    const kind_info& hub_kind = *conversions::instance().hub(kind);
    const auto stored = decode(encode_json(*hub, "v1", hub_kind.kind()), media::json, nullptr);
    REQUIRE(stored);
    REQUIRE(same_meaning(*hub, *stored->content));
  });
}

TEST_CASE("an object of the hub comes back from v1beta1 as it was") {
  for (const auto style : {random_options::mode::realistic, random_options::mode::hostile})
    for (const kind_info* kind : conversions::instance().all()) {
      const kind_info* hub = conversions::instance().hub(*kind);
      if (hub == nullptr) continue;
      random_options options;
      options.style = style;
      for (int seed = 0; seed < seeds_per_kind; ++seed) {
        INFO(hub->kind() << " seed " << seed << " style " << static_cast<int>(style));
        const auto object = random_object(*hub, static_cast<std::uint64_t>(seed), options);
        const auto external = v1beta1::from_hub(*object, *kind);
        const auto back = v1beta1::to_hub(*external, object.get());
        REQUIRE(same_meaning(*object, *back));
      }
    }
}

TEST_CASE("a v1beta1 object of any kind survives JSON and YAML") {
  each_external([](const kind_info& kind, const body& object) {
    for (const auto form : {media::json, media::yaml}) {
      const auto text = form == media::json ? encode_json(object, kind.api_version(), kind.kind())
                                            : encode_yaml(object, kind.api_version(), kind.kind());
      INFO(text);
      const auto read = conversions::instance().decode(text, form, nullptr);
      INFO((read ? std::string() : read.error().message));
      REQUIRE(read);
      REQUIRE(same_meaning(object, *read->content));
    }
  });
}

TEST_CASE("the defaults of v1beta1 are the same when they are set twice") {
  each_external([](const kind_info&, const body& object) {
    std::unique_ptr<body> again(object.New());
    again->CopyFrom(object);
    conversions::instance().set_defaults(*again);
    REQUIRE(difference(object, *again) == "");
  });
}

TEST_CASE("a controller of 2014 becomes one of today") {
  const auto hub =
      hub_of<core::v1::ReplicationController>(read<v1beta1::ReplicationController>(controller));
  CHECK(hub.metadata().name() == v1beta1::name_of("nginxController"));
  CHECK(hub.spec().replicas() == 2);
  CHECK(hub.spec().selector().at("name") == "nginx");
  const auto& pod = hub.spec().template_();
  CHECK(pod.metadata().labels().at("name") == "nginx");
  CHECK(pod.spec().restart_policy() == "OnFailure");
  const auto& container = pod.spec().containers(0);
  CHECK(container.env(0).name() == "A");
  CHECK(container.ports(0).host_port() == 8080);
  CHECK(container.resources().limits().at("cpu").string() == "500m");
  CHECK(container.resources().limits().at("memory").string() == "1Mi");
}

TEST_CASE("an id that is no name is given back, and always stands for the same name") {
  const auto name = v1beta1::name_of("nginxController");
  CHECK(name.starts_with("nginxcontroller-"));
  CHECK(name == v1beta1::name_of("nginxController"));
  CHECK(name != v1beta1::name_of("nginxcontrolleR"));
  CHECK(v1beta1::name_of("nginx-1.a") == "nginx-1.a");
  CHECK(v1beta1::name_of("") == "");
  CHECK(v1beta1::name_of("_") == v1beta1::name_of("_"));
  const auto hub =
      hub_of<core::v1::ReplicationController>(read<v1beta1::ReplicationController>(controller));
  CHECK(shown<v1beta1::ReplicationController>(hub).meta().id() == "nginxController");
}

TEST_CASE("a label's value that is none of today's always stands for the same one") {
  using v1beta1::label_value_of;
  CHECK(label_value_of("nginx-1.a_B") == "nginx-1.a_B");
  CHECK(label_value_of("").empty());
  const auto made = label_value_of("redisslave,redis-master");
  CHECK(made.starts_with("redisslave-redis-master-"));
  CHECK(made == label_value_of("redisslave,redis-master"));
  CHECK(made != label_value_of("redisslave/redis-master"));
  for (const auto& odd : {std::string(",x"), std::string("-"), std::string(200, 'a'),
                          std::string("a b"), std::string("\xc3\xa9")})
    CHECK(check_label_value(label_value_of(odd)).empty());
}

TEST_CASE("changes in one version are visible in the other, and fields that it lacks are kept") {
  auto hub =
      hub_of<core::v1::ReplicationController>(read<v1beta1::ReplicationController>(controller));
  hub.mutable_spec()->set_replicas(5);
  hub.mutable_spec()->set_min_ready_seconds(7);
  hub.mutable_spec()->mutable_template_()->mutable_spec()->set_hostname("web");
  hub.mutable_spec()->mutable_template_()->mutable_spec()->mutable_containers(0)->set_tty(true);
  auto seen = shown<v1beta1::ReplicationController>(hub);
  CHECK(seen.desired_state().replicas() == 5);
  CHECK(seen.desired_state().pod_template().desired_state().manifest().id() == "any");

  seen.mutable_desired_state()->set_replicas(0);
  auto& pods = *seen.mutable_desired_state()->mutable_pod_template()->mutable_desired_state();
  pods.mutable_manifest()->mutable_containers(0)->set_image("nginx:2");
  const auto changed = hub_of<core::v1::ReplicationController>(seen, &hub);
  CHECK(changed.spec().replicas() == 0);
  CHECK(changed.spec().min_ready_seconds() == 7);
  const auto& pod = changed.spec().template_().spec();
  CHECK(pod.hostname() == "web");
  CHECK(pod.containers(0).tty());
  CHECK(pod.containers(0).image() == "nginx:2");
  CHECK(shown<v1beta1::ReplicationController>(changed).meta().id() == "nginxController");
}

TEST_CASE("containers that v1beta1 removes are gone, ports that it never saw are kept") {
  core::v1::Service hub;
  hub.mutable_metadata()->set_name("web");
  for (const int number : {80, 443})
    hub.mutable_spec()->add_ports()->set_port(number);
  hub.mutable_spec()->mutable_ports(1)->set_name("tls");
  auto seen = shown<v1beta1::Service>(hub);
  CHECK(seen.port() == 80);
  (*seen.mutable_selector())["app"] = "web";
  const auto changed = hub_of<core::v1::Service>(seen, &hub);
  REQUIRE(changed.spec().ports_size() == 2);
  CHECK(changed.spec().ports(1).name() == "tls");

  auto pods =
      hub_of<core::v1::ReplicationController>(read<v1beta1::ReplicationController>(controller));
  pods.mutable_spec()->mutable_template_()->mutable_spec()->add_containers()->set_name("second");
  auto both = shown<v1beta1::ReplicationController>(pods);
  auto& manifest = *both.mutable_desired_state()
                        ->mutable_pod_template()
                        ->mutable_desired_state()
                        ->mutable_manifest();
  REQUIRE(manifest.containers_size() == 2);
  manifest.mutable_containers()->DeleteSubrange(0, 1);
  const auto one = hub_of<core::v1::ReplicationController>(both, &pods);
  REQUIRE(one.spec().template_().spec().containers_size() == 1);
  CHECK(one.spec().template_().spec().containers(0).name() == "second");
}

TEST_CASE("unknown versions and kinds are reported by name") {
  const auto refuse = [](std::string_view json) {
    const auto read = conversions::instance().decode(json, media::json, nullptr);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == 400);
    return read.error().message;
  };
  CHECK(refuse(R"({"kind":"Pod","apiVersion":"v9"})") == "no version \"v9\" is registered");
  CHECK(refuse(R"({"kind":"Job","apiVersion":"v1beta1"})") ==
        "no kind \"Job\" is registered for version \"v1beta1\"");
  CHECK(refuse(R"({"apiVersion":"v1beta1"})") == "Object 'Kind' is missing");
  CHECK(refuse(R"({"kind":"Pod"})") == "Object 'apiVersion' is missing");
}

TEST_CASE("kinds that are not registered for each other are not converted") {
  const conversions& all = conversions::instance();
  const auto converted = all.convert(read<v1beta1::ReplicationController>(controller),
                                     *all.find("v1beta1", "Service"));
  REQUIRE_FALSE(converted);
  CHECK(converted.error().code == 500);
}

// A registry of its own: equal shapes need no code.
TEST_CASE("a kind with an unchanged shape is copied without a converter of its own") {
  conversions own;
  own.add_kind<v1beta1::Binding, core::v1::Binding>();
  core::v1::Pod pod;
  pod.mutable_metadata()->set_name("web");
  pod.mutable_spec()->add_containers()->set_name("c");
  const auto copy = own.convert(pod, kind_of<core::v1::Pod>());
  REQUIRE(copy);
  CHECK(difference(pod, **copy) == "");
  core::v1::Binding binding;
  binding.mutable_target()->set_name("n");
  CHECK_FALSE(own.convert(binding, *own.find("v1beta1", "Binding")));
}

TEST_CASE("every manifest of 2014 becomes an object of today and back") {
  for (const auto& manifest : test::legacy_manifests()) {
    INFO(manifest.name);
    for (const auto& text : manifest.objects) {
      const auto& kind = *conversions::instance().find("v1beta1", manifest.kind);
      auto read = conversions::instance().decode(text, media::yaml, &kind);
      INFO((read ? std::string() : read.error().message));
      REQUIRE(read);
      const auto hub = v1beta1::to_hub(*read->content);
      set_defaults(*conversions::instance().hub(kind), *hub);
      const auto back = v1beta1::from_hub(*hub, kind);
      const auto again = v1beta1::to_hub(*back, hub.get());
      CHECK(same_meaning(*hub, *again));
    }
  }
}

}  // namespace troupe::api

// A rolling update on a clock that only the test advances, against a controller that creates pods
// at once; they are ready some seconds later, or never.
#include "tools/client/rolling_update.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "api/codec/codec.hpp"
#include "api/patch/patch.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/defaults.hpp"
#include "tools/manual_clock.hpp"

namespace troupe::tools {
namespace {

using namespace std::chrono_literals;
using api::core::v1::Pod;
using api::core::v1::PodList;
using api::core::v1::ReplicationController;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

const char* const controller = R"(
apiVersion: v1
kind: ReplicationController
metadata: {name: web, namespace: default, uid: u-web, resourceVersion: "1"}
spec:
  replicas: 3
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations: [{key: old, operator: Exists}]
      containers: [{name: c, image: "x:1"}]
)";

// As many pods as the controller's replicas; a deleted pod is recreated at once. Pods with the
// image "bad" are never ready.
class small_cluster final : public cluster_client {
 public:
  explicit small_cluster(wait::manual_clock& clock) : clock_{clock} {
    auto read = api::decode(controller, api::media::yaml, nullptr);
    REQUIRE(read);
    owner_.CopyFrom(*read->content);
    api::set_defaults(api::kind_of<ReplicationController>(), owner_);
    make_pods(-1h);
  }

  tl::expected<client_answer, std::string> call(const client_request& request) override {
    note();
    if (request.path == at_controller && request.method == "GET") return shown(owner_);
    if (request.path == at_controller && request.method == "PATCH") return patch(owner_, request);
    if (request.method == "GET") return list();
    const auto name = request.path.substr(request.path.rfind('/') + 1);
    const auto pod = std::find_if(pods_.begin(), pods_.end(), [&](const made_pod& each) {
      return each.body.metadata().name() == name;
    });
    if (pod == pods_.end()) return client_answer{404, "{}"};
    if (request.method == "PATCH") return patch(pod->body, request);
    pods_.erase(pod);
    make_pods(clock_.passed());
    note();
    return client_answer{200, "{}"};
  }

  void change_template(const std::string& strategic_patch) {
    CHECK(patch(owner_,
                {"PATCH", at_controller, strategic_patch, "application/strategic-merge-patch+json"})
              .status == 200);
  }
  // The lowest number of ready pods since the last call.
  int fewest_ready() { return std::exchange(fewest_ready_, 1'000); }
  int made() const { return next_; }
  std::vector<std::string> images() const {
    std::vector<std::string> out;
    for (const auto& each : pods_)
      out.push_back(each.body.spec().containers(0).image());
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  struct made_pod {
    Pod body;
    wait::duration at;
  };

  static constexpr const char* at_controller =
      "/api/v1/namespaces/default/replicationcontrollers/web";

  bool ready(const made_pod& pod) const {
    return pod.body.spec().containers(0).image() != "bad" && clock_.passed() >= pod.at + 6s;
  }

  void note() {
    const auto count = std::count_if(pods_.begin(), pods_.end(),
                                     [this](const made_pod& each) { return ready(each); });
    fewest_ready_ = std::min(fewest_ready_, static_cast<int>(count));
  }

  void make_pods(wait::duration at) {
    while (static_cast<int>(pods_.size()) < owner_.spec().replicas()) {
      Pod pod;
      *pod.mutable_metadata() = owner_.spec().template_().metadata();
      pod.mutable_metadata()->set_name(fmt::format("web-{}", next_));
      pod.mutable_metadata()->set_uid(fmt::format("u-{}", next_++));
      auto& by = *pod.mutable_metadata()->add_owner_references();
      by.set_uid("u-web");
      by.set_controller(true);
      *pod.mutable_spec() = owner_.spec().template_().spec();
      // Fields that the server adds.
      pod.mutable_spec()->set_service_account_name("default");
      pod.mutable_spec()->set_priority(0);
      pod.mutable_spec()->set_preemption_policy("PreemptLowerPriority");
      pod.mutable_spec()->add_tolerations()->set_key("node.kubernetes.io/not-ready");
      pod.mutable_spec()->set_node_name("n1");
      pods_.push_back({std::move(pod), at});
    }
  }

  template <class Body>
  static client_answer shown(const Body& object) {
    const auto& kind = api::kind_of<Body>();
    return {200, api::encode_json(object, kind.api_version(), kind.kind())};
  }

  client_answer list() const {
    PodList out;
    for (const auto& each : pods_) {
      auto& pod = *out.add_items();
      pod = each.body;
      auto& condition = *pod.mutable_status()->add_conditions();
      condition.set_type("Ready");
      condition.set_status(ready(each) ? "True" : "False");
      if (!ready(each)) condition.set_message("not yet");
    }
    return {200, api::encode_json(out, "v1", "PodList")};
  }

  template <class Body>
  static client_answer patch(Body& object, const client_request& by) {
    const auto form = api::patch_form_of(by.content_type);
    REQUIRE(form);
    const auto made = api::apply_patch(*form, *Body::descriptor(), shown(object).body, by.body);
    REQUIRE(made);
    object.Clear();
    REQUIRE(api::decode_into(*made, api::media::json, object));
    return shown(object);
  }

  wait::manual_clock& clock_;
  ReplicationController owner_;
  std::vector<made_pod> pods_;
  int next_ = 0;
  int fewest_ready_ = 1'000;
};

struct updates {
  wait::manual_clock clock;
  small_cluster cluster{clock};
  std::vector<std::string> said;
  int calls = 0;

  tl::expected<void, std::string> run(std::optional<std::string> image = {},
                                      wait::duration period = 1s) {
    said.clear();
    rolling_update_options options;
    options.controller = "web";
    options.image = std::move(image);
    options.mark = fmt::format("mark-{}", ++calls);
    options.update_period = period;
    options.poll = 1s;
    options.timeout = 30s;
    return rolling_update(cluster, clock, options,
                          [this](std::string line) { said.push_back(std::move(line)); });
  }

  // Runs until then, and no further.
  void interrupt_after(wait::duration time, std::optional<std::string> image = {}) {
    clock.interrupt_after(clock.passed() + time);
    const auto done = run(std::move(image), 60s);
    REQUIRE_FALSE(done);
    CHECK_THAT(done.error(), StartsWith("interrupted"));
    clock.interrupt_after(clock.passed() + 24h);
  }

  std::string all_said() const {
    std::string out;
    for (const auto& each : said)
      out += each + "\n";
    return out;
  }
};

using images = std::vector<std::string>;

}  // namespace

TEST_CASE("a rolling update waits for each pod before it takes the next") {
  updates web;
  CHECK(web.run("x:2"));
  CHECK(web.cluster.images() == images{"x:2", "x:2", "x:2"});
  CHECK(web.cluster.fewest_ready() == 2);
  CHECK(web.cluster.made() == 6);
}

TEST_CASE("an update that goes on waits first for the pod that was replaced before") {
  updates web;
  web.interrupt_after(1s, "x:2");
  for (int i = 0; i < 3; ++i)
    web.interrupt_after(1s);
  CHECK(web.cluster.made() == 4);
  CHECK(web.cluster.fewest_ready() == 2);
  CHECK(web.run());
  CHECK(web.cluster.images() == images{"x:2", "x:2", "x:2"});
  CHECK(web.cluster.fewest_ready() == 2);
  CHECK(web.cluster.made() == 6);
}

TEST_CASE("an update that can never be done takes one pod, however often it is called") {
  updates web;
  for (int i = 0; i < 3; ++i) {
    const auto done = i == 0 ? web.run("bad") : web.run();
    REQUIRE_FALSE(done);
    CHECK_THAT(done.error(), Contains("web-3 is not ready: not yet") && Contains("--image"));
  }
  CHECK(web.cluster.images() == images{"bad", "x:1", "x:1"});
  CHECK(web.cluster.fewest_ready() == 2);
}

TEST_CASE("another image takes the place of an update that is under way") {
  updates web;
  CHECK_FALSE(web.run("bad"));
  CHECK(web.run("x:2"));
  CHECK_THAT(web.all_said(),
             StartsWith("the update of web to image bad ends, a new one replaces it"));
  CHECK(web.cluster.images() == images{"x:2", "x:2", "x:2"});
  CHECK(web.cluster.fewest_ready() == 2);
  CHECK(web.cluster.made() == 7);
}

TEST_CASE("a rollback replaces only updated pods") {
  updates web;
  CHECK_FALSE(web.run("bad"));
  CHECK(web.run("x:1"));
  CHECK(web.cluster.images() == images{"x:1", "x:1", "x:1"});
  CHECK(web.cluster.fewest_ready() == 2);
  CHECK(web.cluster.made() == 5);
  CHECK_THAT(web.all_said(), Contains("web-1 is already up to date") && Contains("all pods"));
}

TEST_CASE("a template that a user repaired during an update is used") {
  updates web;
  CHECK_FALSE(web.run("bad"));
  const auto [mended, all, made] = GENERATE(table<std::string, images, int>({
      {R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"x:2"}]}}}})",
       {"x:2", "x:2", "x:2"},
       7},
      {R"({"spec":{"template":{"spec":{"nodeSelector":{"a":"b"},"containers":[{"name":"c","image":"x:1"}]}}}})",
       {"x:1", "x:1", "x:1"},
       7},
      {R"({"spec":{"template":{"metadata":{"annotations":null},"spec":{"containers":[{"name":"c","image":"x:1"}]}}}})",
       {"x:1", "x:1", "x:1"},
       5},
  }));
  web.cluster.change_template(mended);
  CHECK(web.run());
  CHECK(web.cluster.images() == all);
  CHECK(web.cluster.fewest_ready() == 2);
  CHECK(web.cluster.made() == made);
}

TEST_CASE("pods that serve nobody are replaced first") {
  updates web;
  web.interrupt_after(1s, "bad");
  web.interrupt_after(1s, "x:2");
  CHECK(web.cluster.images() == images{"x:1", "x:1", "x:2"});
}

TEST_CASE("an update that was superseded ends and changes nothing more") {
  updates web;
  web.interrupt_after(1s, "x:2");
  // As if another update had been at work while this one waited.
  web.clock.interrupt_after(web.clock.passed() + 24h);
  rolling_update_options options;
  options.controller = "web";
  options.mark = "mine";
  options.update_period = 1s;
  options.poll = 1s;
  const auto done = rolling_update(web.cluster, web.clock, options, [&](const std::string& line) {
    if (line.find("deleted") == 0)
      web.cluster.change_template(
          R"({"spec":{"template":{"metadata":{"annotations":{"troupe.dev/rolling-update":"other"}}}}})");
  });
  REQUIRE_FALSE(done);
  CHECK_THAT(done.error(), Contains("another update of web has begun"));
  CHECK(web.cluster.made() == 5);
}

}  // namespace troupe::tools

// Requests of autoscalers to the servers of metrics APIs.
#include "server/rest/aggregation/metrics_client.hpp"

#include <mutex>

#include "actors/core/metric_questions.hpp"
#include "runtime/actor_system.hpp"
#include "runtime/simulation.hpp"
#include "server/rest/aggregation/metric_requests.hpp"
#include "server/rest/aggregation_stage.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Contains;

TEST_CASE("a question of an autoscaler is a request of its metrics API") {
  using server::metric_target;
  using source = actors::metric_query::source;
  server::aggregated_api api;
  api.group = "custom.metrics.k8s.io";
  api.version = "v1beta2";
  const std::string base = "/apis/custom.metrics.k8s.io/v1beta2";
  CHECK(metric_target(api, {.of = source::pods,
                            .ns = "default",
                            .name = "hits/s",
                            .selector = "a=b",
                            .pods = "app in (x,y)"}) ==
        base +
            "/namespaces/default/pods/*/hits%2Fs?labelSelector=app%20in%20%28x%2Cy%29"
            "&metricLabelSelector=a%3Db");
  CHECK(metric_target(api, {.of = source::object,
                            .ns = "default",
                            .name = "hits",
                            .resource = "ingresses.networking.k8s.io",
                            .object = "main"}) ==
        base + "/namespaces/default/ingresses.networking.k8s.io/main/hits");
  CHECK(metric_target(api, {.of = source::object,
                            .ns = "default",
                            .name = "hits",
                            .resource = "nodes",
                            .object = "n1",
                            .namespaced = false}) == base + "/nodes/n1/hits");
  CHECK(metric_target(api, {.of = source::object,
                            .ns = "default",
                            .name = "hits",
                            .resource = "namespaces",
                            .object = "default",
                            .namespaced = false}) == base + "/namespaces/default/metrics/hits");
  api.group = "external.metrics.k8s.io";
  api.version = "v1beta1";
  CHECK(metric_target(api, {.of = source::external, .ns = "default", .name = "queue"}) ==
        "/apis/external.metrics.k8s.io/v1beta1/namespaces/default/queue");
}

TEST_CASE("an answer of a metrics API is read, or refused with the reason") {
  using source = actors::metric_query::source;
  const auto read = [](source of, int status, const std::string& body) {
    return server::read_metrics({.of = of}, server::fetch_answer{status, body});
  };
  const std::string list = R"({"items":[{"describedObject":{"kind":"Pod","name":"p0"},
      "metric":{"name":"hits"},"timestamp":"2023-11-14T22:13:20Z","windowSeconds":30,
      "value":"1500m"}]})";
  const auto pods = read(source::pods, 200, list);
  REQUIRE(pods);
  CHECK(pods->front().object == "p0");
  CHECK(pods->front().milli == 1500);
  CHECK(pods->front().at == 1'700'000'000);
  CHECK(pods->front().window == 30);
  const auto usage = read(source::usage, 200, R"({"items":[{"metadata":{"name":"p0"},
      "timestamp":"2023-11-14T22:13:20Z","window":"15s",
      "containers":[{"name":"c","usage":{"cpu":"250m","memory":"1Mi"}}]}]})");
  REQUIRE(usage);
  CHECK(usage->front().container == "c");
  CHECK(usage->front().cpu_nano == 250'000'000);
  CHECK(usage->front().memory_bytes == 1u << 20);
  CHECK(usage->front().window == 15);
  CHECK(read(source::external, 200, R"({"items":[]})").error() ==
        "no metrics returned from external metrics API");
  CHECK(read(source::object, 200, R"({"items":[]})").error() ==
        "the custom metrics API server returned 0 results when we asked for exactly one");
  CHECK(read(source::pods, 403, R"({"kind":"Status","message":"pods is forbidden"})").error() ==
        "pods is forbidden");
  const auto refused = R"({"kind":"Status","message":")" + std::string(511, 'a') + "\u00e9\"}";
  CHECK(read(source::pods, 403, refused).error() == std::string(511, 'a'));
  CHECK(read(source::pods, 500, "oops").error() == "the server responded with the status code 500");
  for (const auto* lie : {"", "[]", "{\"items\":7}", "{\"items\":[7,null]}"})
    CHECK_FALSE(read(source::pods, 200, lie));
}

TEST_CASE("an autoscaler's question goes to the server of its metrics API, as its account") {
  aggregation_stage t;
  t.serve();
  t.backend->respond = [](const std::string& request) {
    const std::string base = "/apis/external.metrics.k8s.io/v1beta1";
    return answer_of(request.starts_with("GET " + base + " ")
                         ? R"({"kind":"APIResourceList",
                               "groupVersion":"external.metrics.k8s.io/v1beta1","resources":[]})"
                         : R"({"kind":"ExternalMetricValueList","items":[
                               {"metricName":"queue","value":"7"}]})");
  };
  struct answered {
    std::mutex mutex;
    std::optional<actors::metrics_result> told;
  };
  const auto ask = [&] {
    const auto into = std::make_shared<answered>();
    auto& system = t.server->plane().system();
    system.request<actors::metrics_result>(
        system.actors().find(actors::metrics_client_kind, actors::metrics_client_kind),
        actors::query_metrics{
            {{.of = actors::metric_query::source::external, .ns = "default", .name = "queue"}}},
        std::chrono::seconds{60}, [into](const auto& told) {
          const std::lock_guard lock{into->mutex};
          into->told = told ? **told : actors::metrics_result{};
        });
    REQUIRE(rest_test::eventually([&] {
      const std::lock_guard lock{into->mutex};
      return into->told.has_value();
    }));
    REQUIRE(into->told->answers.size() == 1);
    return into->told->answers.front();
  };
  // No server serves it.
  CHECK(ask().error().empty());
  t.server->post(api_services,
                 fmt::format(R"({{"metadata":{{"name":"v1beta1.external.metrics.k8s.io"}},"spec":{{
      "group":"external.metrics.k8s.io","version":"v1beta1","groupPriorityMinimum":100,
      "versionPriority":100,"service":{{"namespace":"default","name":"ext"}},{}}}}})",
                             t.bundle()));
  REQUIRE(rest_test::eventually([&] {
    return t.server->get(api_services + "/v1beta1.external.metrics.k8s.io")
               .at("status.conditions.0.reason") == "Passed";
  }));
  const auto values = ask();
  REQUIRE(values);
  CHECK(values->front().milli == 7000);
  CHECK_THAT(t.backend->received(),
             Contains("x-remote-user: "
                      "system:serviceaccount:kube-system:horizontal-pod-autoscaler\r\n"));
}

TEST_CASE("answers to questions from before a crash of the metrics client use up no room") {
  runtime::simulation world{1};
  persistence::store_options in_memory;
  in_memory.threaded = false;
  const auto store = persistence::store::open(std::move(in_memory)).value();
  const auto shared = std::make_shared<server::aggregation>(
      server::backends::sources{world.system(), *store, nullptr, nullptr, nullptr});
  server::aggregated_api api{
      .group = "external.metrics.k8s.io", .version = "v1beta1", .ns = "default", .service = "ext"};
  api.available = true;
  api.tls = server::make_client_context({}).value();
  shared->apis.publish({std::make_shared<server::aggregated_api>(api)}, {}, {});
  const auto client = world.system().spawn({.kind = actors::metrics_client_kind, .name = "client"},
                                           runtime::make<server::metrics_client>(shared));
  const auto found = [&] { return *world.system().actors().find(client.id()); };
  const auto ask = [&](std::size_t queries) {
    const auto error = std::make_shared<std::string>("no answer");
    const actors::metric_query one{
        .of = actors::metric_query::source::external, .ns = "default", .name = "queue"};
    world.system().request<actors::metrics_result>(
        client, actors::query_metrics{std::vector(queries, one)}, std::chrono::seconds{10},
        [error](const auto& told) {
          *error = told ? (*told)->answers.front().error() : "crashed";
        });
    return error;
  };
  const auto lost = ask(3);
  while (found().mailbox != 3)
    REQUIRE(world.step());
  world.faults({.crash = 1, .delay = 0, .may_crash = {}});
  while (found().restarts == 0)
    REQUIRE(world.step());
  world.faults({});
  world.advance(std::chrono::seconds{1});
  CHECK(*lost == "crashed");
  const auto next = ask(1);
  world.settle();
  CHECK(*next == "service \"ext\" not found");
}

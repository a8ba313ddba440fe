// A user who may create pods in a namespace that enforces a level must not get a pod below it: by
// any workload, way of writing or subresource.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>

#include "server/fixtures/guarded_api.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Contains;

namespace {

const std::string ns = "/api/v1/namespaces/default";
const std::string pods = ns + "/pods";

// A spec that complies with restricted, apart from the additional fields of the container.
std::string pod_spec(const std::string& more = {}) {
  return R"({"securityContext":{"runAsNonRoot":true,"seccompProfile":{"type":"RuntimeDefault"}},)"
         R"("containers":[{"name":"c","image":"web:1","securityContext":{)" +
         more + R"("allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]}}}]})";
}

std::string bad_spec() {
  auto spec = pod_spec(R"("privileged":true,)");
  const std::string no = R"("allowPrivilegeEscalation":false,)";
  return spec.erase(spec.find(no), no.size());
}

std::string pod(const std::string& name, const std::string& spec) {
  return fmt::format(R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}"}},"spec":{}}})",
                     name, spec);
}

std::string pod_template(const std::string& spec) {
  return R"({"metadata":{"labels":{"app":"x"}},"spec":)" + spec + "}";
}

struct restricted_namespace {
  restricted_namespace() {
    const auto answer =
        server.patch(ns, "merge",
                     R"({"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted",)"
                     R"("pod-security.kubernetes.io/warn":"restricted"}}})");
    REQUIRE(answer.status == 200);
  }
  rest_test server{{.simulated_nodes = 1}};
};

void check_refused(const rest_answer& answer) {
  INFO(answer.text());
  CHECK(answer.status == 403);
  CHECK_THAT(answer.at("message"), Contains("violates PodSecurity \"restricted:latest\""));
}

void check_not_done(const rest_answer& answer) {
  INFO(answer.text());
  CHECK(answer.status >= 400);
}

}  // namespace

TEST_CASE("No way of writing a pod leads to a privileged one where restricted is enforced",
          "[podsecurity]") {
  restricted_namespace t;
  auto& server = t.server;
  check_refused(server.post(pods, pod("a", bad_spec())));
  check_refused(server.post(pods + "?dryRun=All", pod("a", bad_spec())));
  check_refused(server.request("PATCH", pods + "/a?fieldManager=m", pod("a", bad_spec()),
                               {{"content-type", "application/apply-patch+yaml"}}));

  REQUIRE(server.post(pods, pod("a", pod_spec())).status == 201);
  check_not_done(server.put(pods + "/a", pod("a", bad_spec())));
  const std::string change = R"({"spec":{"containers":[{"name":"c","securityContext":)"
                             R"({"privileged":true}}]}})";
  check_not_done(server.patch(pods + "/a", "strategic", change));
  check_not_done(server.patch(pods + "/a", "json",
                              R"([{"op":"add","path":"/spec/hostNetwork","value":true}])"));
  check_not_done(server.request("PATCH", pods + "/a?fieldManager=m&force=true",
                                pod("a", bad_spec()),
                                {{"content-type", "application/apply-patch+yaml"}}));
  check_refused(server.patch(pods + "/a/ephemeralcontainers", "strategic",
                             R"({"spec":{"ephemeralContainers":[{"name":"d","image":"x",)"
                             R"("securityContext":{"privileged":true}}]}})"));
  // Subresources that accept a whole pod cannot change fields that the level checks.
  for (const auto* part : {"/status", "/resize"})
    server.patch(pods + "/a" + part, "strategic", change);
  const auto kept = server.get(pods + "/a");
  CHECK_FALSE(kept.has("spec.containers.0.securityContext.privileged"));
  CHECK_FALSE(kept.has("spec.ephemeralContainers"));
  CHECK(server.get(pods).size("items") == 1);
}

TEST_CASE("A pod of before a level may be labelled and ended, and gets no other image",
          "[podsecurity]") {
  rest_test server;
  REQUIRE(server.post(pods, pod("old", bad_spec())).status == 201);
  const auto labelled = server.patch(
      ns, "merge", R"({"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}})");
  CHECK(labelled.status == 200);
  CHECK_THAT(labelled.headers.at("warning"),
             Contains("existing pods in namespace \\\"default\\\" violate the new PodSecurity "
                      "enforce level"));
  CHECK(server.patch(pods + "/old", "merge", R"({"metadata":{"labels":{"a":"b"}}})").status == 200);
  const auto refused = server.patch(pods + "/old", "strategic",
                                    R"({"spec":{"containers":[{"name":"c","image":"web:2"}]}})");
  CHECK(refused.status == 403);
  CHECK(server.remove(pods + "/old").status == 200);
}

TEST_CASE("No workload makes a privileged pod where restricted is enforced, and each is warned of",
          "[podsecurity]") {
  restricted_namespace t;
  auto& server = t.server;
  const auto spec = bad_spec();
  auto job_spec = spec;
  job_spec.insert(1, R"("restartPolicy":"Never",)");
  const std::string select = R"("selector":{"matchLabels":{"app":"x"}},)";
  const std::string body = R"("template":)" + pod_template(spec);
  const std::string job = R"("template":)" + pod_template(job_spec);
  struct workload {
    std::string path, spec;
  };
  const workload all[] = {
      {"/api/v1/namespaces/default/replicationcontrollers", R"({"replicas":1,)" + body + "}"},
      {"/apis/apps/v1/namespaces/default/replicasets", R"({"replicas":1,)" + select + body + "}"},
      {"/apis/apps/v1/namespaces/default/deployments", R"({"replicas":1,)" + select + body + "}"},
      {"/apis/apps/v1/namespaces/default/statefulsets",
       R"({"replicas":1,"serviceName":"x",)" + select + body + "}"},
      {"/apis/apps/v1/namespaces/default/daemonsets", "{" + select + body + "}"},
      {"/apis/batch/v1/namespaces/default/jobs", "{" + job + "}"},
      {"/apis/batch/v1/namespaces/default/cronjobs",
       R"({"schedule":"* * * * *","jobTemplate":{"spec":{)" + job + "}}}"},
  };
  for (const auto& each : all) {
    CAPTURE(each.path);
    const auto made =
        server.post(each.path, R"({"metadata":{"name":"w"},"spec":)" + each.spec + "}");
    INFO(made.text());
    CHECK(made.status == 201);
    CHECK_THAT(made.headers.at("warning"),
               Contains("would violate PodSecurity \\\"restricted:latest\\\": privileged"));
  }
  // Each workload that creates pods has tried, and reports why it has none.
  CHECK(rest_test::eventually([&] {
    std::set<std::string> failed;
    const auto events = server.get("/api/v1/namespaces/default/events");
    for (std::size_t i = 0; i < events.size("items"); ++i) {
      const auto item = "items." + std::to_string(i) + ".";
      if (events.at(item + "message").find("violates PodSecurity") != std::string::npos)
        failed.insert(events.at(item + "involvedObject.kind"));
    }
    return failed.size() >= 5;
  }));
  CHECK(server.get(pods).size("items") == 0);
}

TEST_CASE("Who may edit a namespace's objects cannot lower its level", "[podsecurity]") {
  guarded_api api;
  api.make(api.bindings, api.bind("eve", "ClusterRole", "admin", "eve"));
  const test::http_client::fields json{{"Content-Type", "application/merge-patch+json"}};
  const std::string lower =
      R"({"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"privileged"}}})";
  REQUIRE(api.ask("root", "PATCH", ns,
                  R"({"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}})",
                  json)
              .status == 200);
  CHECK(api.ask("eve", "PATCH", ns, lower, json).status == 403);
  CHECK(api.ask("eve", "PATCH", ns + "/status", lower, json).status == 403);
  CHECK(api.ask("eve", "POST", pods, pod("a", bad_spec())).status == 403);
  CHECK(api.ask("eve", "POST", pods, pod("a", pod_spec())).status == 201);
}

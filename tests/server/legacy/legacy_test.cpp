// The API of 2014 on its own listener, over the objects of today's API.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "api/v1beta1/v1beta1.hpp"
#include "server/connections/websocket_frames.hpp"
#include "server/fixtures/legacy_fixture.hpp"
#include "support/legacy_manifests.hpp"

namespace troupe::server {

using testing::controllers_of_today;
using testing::json_text;
using testing::legacy_test;
using testing::pods_of_today;
using testing::watching;

namespace {

std::string pod(const std::string& id, const std::string& more = {}) {
  return R"({"kind":"Pod","apiVersion":"v1beta1","id":")" + id +
         R"(","labels":{"app":"web"},"desiredState":{"manifest":{"version":"v1beta1","id":")" + id +
         R"(","containers":[{"name":"c","image":"nginx"}]}})" + more + "}";
}

std::string controller(const std::string& id, int replicas) {
  return R"({"kind":"ReplicationController","apiVersion":"v1beta1","id":")" + id +
         R"(","desiredState":{"replicas":)" + std::to_string(replicas) +
         R"(,"replicaSelector":{"app":"web"},"podTemplate":{"labels":{"app":"web"},)"
         R"("desiredState":{"manifest":{"version":"v1beta1","id":"",)"
         R"("containers":[{"name":"c","image":"nginx"}]}}}}})";
}

}  // namespace

TEST_CASE("an object made in either version shows in both") {
  legacy_test api;
  const auto made = api.old("POST", "/pods", pod("web"));
  INFO(made.text());
  REQUIRE(made.status == 200);
  CHECK(made.at("kind") == "Pod");
  CHECK(made.at("apiVersion") == "v1beta1");
  CHECK(made.at("id") == "web");
  CHECK(made.at("selfLink") == "/api/v1beta1/pods/web");
  CHECK(made.at("desiredState.status") == "Running");
  CHECK(made.at("currentState.status") == "Waiting");
  CHECK(made.at("currentState.host") == "");
  CHECK(made.at("desiredState.manifest.uuid") == made.at("uid"));
  CHECK(std::stoll(made.at("resourceVersion")) > 0);
  const auto today = api.get(std::string{pods_of_today} + "/web");
  CHECK(today.at("spec.containers.0.image") == "nginx");
  CHECK(today.at("metadata.resourceVersion") == made.at("resourceVersion"));

  api.create_pod("other");
  const auto list = api.old("GET", "/pods");
  CHECK(list.at("kind") == "PodList");
  CHECK(list.size("items") == 2);
  CHECK(list.at("items.0.id") == "other");
  CHECK_FALSE(list.has("items.0.kind"));
  CHECK(api.old("GET", "/pods/other").at("labels.app") == "web");
}

TEST_CASE("ids with capitals are kept, and stand for a name of today") {
  legacy_test api;
  const auto made = api.old("POST", "/replicationControllers", controller("webController", 2));
  INFO(made.text());
  REQUIRE(made.status == 200);
  CHECK(made.at("id") == "webController");
  const auto name = api::v1beta1::name_of("webController");
  const auto path = std::string{controllers_of_today} + "/" + name;
  CHECK(api.get(path).at("spec.replicas") == "2");
  CHECK(api.old("GET", "/replicationControllers/webController").at("id") == "webController");
  CHECK(api.old("GET", "/replicationControllers").at("items.0.id") == "webController");

  // After a change by today's API it still has its id.
  REQUIRE(api.patch(path, "merge", R"({"spec":{"replicas":3,"minReadySeconds":9}})").status == 200);
  auto found = api.old("GET", "/replicationControllers/webController");
  CHECK(found.at("id") == "webController");
  CHECK(found.at("desiredState.replicas") == "3");

  // After a change by the API of 2014 it keeps the fields that that API lacks.
  auto text = found.text();
  text.replace(text.find("\"replicas\":3"), 12, "\"replicas\":0");
  const auto put = api.old("PUT", "/replicationControllers/webController", text);
  INFO(put.text());
  CHECK(put.status == 200);
  CHECK(put.at("desiredState.replicas") == "0");
  CHECK(api.get(path).at("spec.replicas") == "0");
  CHECK(api.get(path).at("spec.minReadySeconds") == "9");
}

TEST_CASE("a write of an older revision is a conflict, one without is not") {
  legacy_test api;
  const auto made = api.old("POST", "/replicationControllers", controller("web", 2));
  REQUIRE(made.status == 200);
  const auto put = [&](const std::string& body) {
    return api.old("PUT", "/replicationControllers/web", body);
  };
  CHECK(put(controller("web", 1)).status == 200);
  const auto late = put(made.text());
  CHECK(late.status == 409);
  CHECK(late.at("kind") == "Status");
  CHECK(late.at("status") == "Failure");
  CHECK(late.at("reason") == "Conflict");
  CHECK(put(controller("else", 1)).status == 400);
}

TEST_CASE("failures have the messages of the client's version") {
  legacy_test api;
  const auto gone = api.old("GET", "/pods/nobody");
  CHECK(gone.status == 404);
  CHECK(gone.at("status") == "Failure");
  CHECK(gone.at("reason") == "NotFound");
  CHECK(gone.at("message") == "pod \"nobody\" not found");
  CHECK(gone.at("code") == "404");
  CHECK(gone.at("details.id") == "nobody");
  const auto old = api.old_v02("GET", "/pods/nobody");
  CHECK(old.at("status") == "failure");
  CHECK(old.at("reason") == "not_found");

  REQUIRE(api.old("POST", "/pods", pod("web")).status == 200);
  const auto again = api.old_v02("POST", "/pods", pod("web"));
  CHECK(again.status == 409);
  CHECK(again.at("reason") == "already_exists");
  const auto invalid = api.old("POST", "/pods", R"({"kind":"Pod","id":"x"})");
  CHECK(invalid.status == 422);
  CHECK(invalid.at("reason") == "Invalid");
  CHECK(invalid.at("details.causes.0.reason") == "FieldValueRequired");
  CHECK(api.old("POST", "/pods", "{]").status == 400);
  CHECK(api.old("POST", "/pods", R"({"kind":"Service","apiVersion":"v1beta1"})").status == 400);
}

TEST_CASE("failures name the kind and the id as the client does") {
  legacy_test api;
  const auto body = controller("webController", 1);
  REQUIRE(api.old("POST", "/replicationControllers", body).status == 200);
  const auto again = api.old("POST", "/replicationControllers", body);
  CHECK(again.status == 409);
  CHECK(again.at("message") == "replicationController \"webController\" already exists");
  CHECK(again.at("details.id") == "webController");
  CHECK(again.at("details.kind") == "replicationController");

  const auto found = api.old("GET", "/replicationControllers/webController").text();
  REQUIRE(api.old("PUT", "/replicationControllers/webController", controller("webController", 2))
              .status == 200);
  const auto late = api.old("PUT", "/replicationControllers/webController", found);
  CHECK(late.status == 409);
  CHECK_THAT(late.at("message"),
             Catch::StartsWith(
                 "replicationController \"webController\" cannot be updated: the object has been"));
  const auto wrong = api.old("POST", "/replicationControllers", controller("otherController", -1));
  CHECK(wrong.status == 422);
  CHECK_THAT(wrong.at("message"),
             Catch::StartsWith("replicationController \"otherController\" is invalid: "));
  CHECK(api.old("DELETE", "/replicationControllers/noController").at("message") ==
        "replicationController \"noController\" not found");
  // Objects of other kinds keep their own name.
  CHECK(api.old("POST", "/pods?namespace=none", pod("web")).at("message") ==
        "namespaces \"none\" not found");
}

TEST_CASE("ids that no path can hold are refused, and services are named as hosts were") {
  legacy_test api;
  const auto [path, kind, id, ok] = GENERATE(table<const char*, const char*, std::string, bool>({
      {"/pods", "pod", "a/b", false},
      {"/pods", "pod", "..", false},
      {"/pods", "pod", ".", false},
      {"/pods", "pod", "what?", false},
      {"/pods", "pod", "a#b", false},
      {"/pods", "pod", "100%", false},
      {"/pods", "pod", "a b", false},
      {"/pods", "pod", "Web_1.x-y", true},
      {"/services", "service", "web.x", false},
      {"/services", "service", "webService", false},
      {"/services", "service", "1web", false},
      {"/services", "service", std::string(25, 'a'), false},
      {"/services", "service", std::string(24, 'a'), true},
  }));
  INFO(id);
  const bool is_pod = std::string{kind} == "pod";
  const auto body = is_pod ? pod(id) : R"({"id":")" + id + R"(","port":80})";
  const auto made = api.old("POST", path, body);
  INFO(made.text());
  CHECK(made.status == (ok ? 200 : 422));
  if (ok) {
    CHECK(api.old("GET", std::string{path} + "/" + id).at("id") == id);
  } else {
    CHECK_THAT(made.at("message"),
               Catch::StartsWith(std::string{kind} + " \"" + id + "\" is invalid: id: "));
    CHECK(made.at("details.causes.0.field") == "id");
  }
}

TEST_CASE(
    "a deletion succeeds in the words of the client's version, and keeps a controller's pods") {
  legacy_test api;
  REQUIRE(api.old("POST", "/pods", pod("web")).status == 200);
  REQUIRE(api.old("POST", "/replicationControllers", controller("rc", 0)).status == 200);
  const auto gone = api.old("DELETE", "/pods/web");
  CHECK(gone.status == 200);
  CHECK(gone.at("kind") == "Status");
  CHECK(gone.at("status") == "Success");
  CHECK(api.old("GET", "/pods/web").status == 404);
  INFO("one that runs is gone at once too, and its id is free");
  REQUIRE(api.old("POST", "/pods", pod("web")).status == 200);
  REQUIRE(
      api.post(std::string{pods_of_today} + "/web/binding", R"({"target":{"name":"n1"}})").status ==
      201);
  CHECK(api.old("DELETE", "/pods/web").status == 200);
  CHECK(api.old("GET", "/pods/web").status == 404);
  CHECK(api.old_v02("DELETE", "/replicationControllers/rc").at("status") == "success");
  // The garbage collector, which does not run here, would orphan the pods, then delete the object.
  CHECK(api.get(std::string{controllers_of_today} + "/rc").at("metadata.finalizers.0") == "orphan");
  CHECK(api.old("DELETE", "/pods/web").status == 404);
}

TEST_CASE("selectors of 2014 choose by labels and fields") {
  legacy_test api;
  REQUIRE(api.old("POST", "/pods", pod("a")).status == 200);
  api.create_pod("b", R"({"tier":"x"})");
  const auto names = [&](const std::string& query) {
    const auto list = api.old("GET", "/pods?" + query);
    std::string out;
    for (std::size_t i = 0; i < list.size("items"); ++i)
      out += list.at("items." + std::to_string(i) + ".id");
    return out;
  };
  CHECK(names("labels=app%3Dweb") == "a");
  CHECK(names("labels=app%3D%3Dweb") == "a");
  CHECK(names("labels=app!%3Dweb") == "b");
  // A missing label counts as "".
  CHECK(names("labels=app%3D") == "b");
  CHECK(names("labels=app%3Dweb,tier%3Dx") == "");
  CHECK(names("labels=") == "ab");
  CHECK(names("fields=DesiredState.Host%3D") == "ab");
  CHECK(names("fields=DesiredState.Host!%3D") == "");
  CHECK(names("fields=ID%3Db") == "b");
  CHECK(api.old("GET", "/pods?labels=app").status == 500);
  CHECK(api.old("GET", "/pods?fields=Color%3Dred").status == 500);
  CHECK(api.old("GET", "/services?fields=DesiredState.Host%3D").status == 500);
  REQUIRE(api.post("/api/v1/namespaces/default/events",
                   R"({"metadata":{"name":"e"},"reason":"Started","source":{"component":"kubelet"},
                       "involvedObject":{"kind":"Pod","namespace":"default","name":"a"}})")
              .status == 201);
  const auto events = [&](const std::string& fields) {
    return api.old("GET", "/events?fields=" + fields).size("items");
  };
  CHECK(events("involvedObject.kind%3DPod,involvedObject.name%3Da") == 1);
  CHECK(events("involvedObject.name%3Db") == 0);
  CHECK(events("reason%3DStarted,source!%3Dscheduler") == 1);
}

TEST_CASE("labels that are none of today's are kept, and select") {
  legacy_test api;
  const std::string uses = "redisslave,redis-master";
  auto frontend = controller("frontend", 1);
  for (auto at = frontend.find("\"web\""); at != frontend.npos; at = frontend.find("\"web\""))
    frontend.replace(at, 5, "\"" + uses + "\"");
  const auto made = api.old("POST", "/replicationControllers", frontend);
  INFO(made.text());
  REQUIRE(made.status == 200);
  CHECK(made.at("desiredState.replicaSelector.app") == uses);
  CHECK(made.at("desiredState.podTemplate.labels.app") == uses);
  const auto today = api.get(std::string{controllers_of_today} + "/frontend");
  CHECK(today.at("spec.selector.app") == api::v1beta1::label_value_of(uses));
  CHECK(today.at("spec.template.metadata.labels.app") == today.at("spec.selector.app"));

  REQUIRE(api.old("POST", "/pods", pod("odd", R"(,"labels":{"app":"a/b"})")).status == 200);
  CHECK(api.old("GET", "/pods/odd").at("labels.app") == "a/b");
  CHECK(api.old("GET", "/pods?labels=app%3Da/b").size("items") == 1);
  CHECK(api.old("GET", "/pods?labels=app%3Da/c").size("items") == 0);
}

TEST_CASE("an unknown path is a plain 404, and the served documents are found") {
  legacy_test api;
  for (const auto* path :
       {"/unicorns", "/pods/a/b", "/watch/unicorns", "//apis", "/operations/x"}) {
    const auto answer = api.old("GET", path);
    INFO(path);
    CHECK(answer.status == 404);
    CHECK(answer.headers.at("content-type") == "text/plain; charset=utf-8");
    CHECK(answer.text().starts_with("Not Found: \""));
  }
  CHECK(api.old("GET", "//nothing?a=b").text() == "Not Found: \"/nothing?a=b\"");
  CHECK(api.old("PUT", "/pods", "{}").status == 404);
  CHECK(api.old("PATCH", "/pods/a", "{}").status == 404);
  CHECK(api.old("GET", "//healthz").text() == "ok");
  CHECK(api.old("GET", "//version").has("gitVersion"));
  CHECK(api.old("GET", "//api").text() == R"({"versions":["v1beta1"]})");
}

TEST_CASE("minions are listed under both names, and a binding puts a pod on one") {
  legacy_test api;
  const auto minion = api.old("POST", "/minions", R"({"kind":"Minion","id":"10.0.0.1"})");
  INFO(minion.text());
  REQUIRE(minion.status == 200);
  const auto list = api.old("GET", "/minions");
  CHECK(list.at("kind") == "MinionList");
  CHECK(list.at("minions.0.id") == "10.0.0.1");
  CHECK(list.at("items.0.id") == "10.0.0.1");
  CHECK(api.get("/api/v1/nodes/10.0.0.1").status == 200);

  REQUIRE(api.old("POST", "/pods", pod("web")).status == 200);
  const std::string binding = R"({"kind":"Binding","podID":"web","host":"10.0.0.1"})";
  const auto bound = api.old("POST", "/bindings", binding);
  INFO(bound.text());
  CHECK(bound.status == 200);
  CHECK(bound.at("status") == "Success");
  CHECK(api.old("GET", "/pods/web").at("currentState.host") == "10.0.0.1");
  CHECK(api.old("GET", "/pods/web").at("desiredState.host") == "10.0.0.1");
  CHECK(api.old("POST", "/bindings", binding).status == 409);
  const auto nowhere = api.old("POST", "/bindings", R"({"podID":"none","host":"10.0.0.1"})");
  CHECK(nowhere.status == 404);
  CHECK(nowhere.at("message") == "pod \"none\" not found");
  CHECK(api.old("GET", "/bindings/web").at("reason") == "NotFound");
  CHECK(api.old("DELETE", "/bindings/web").status == 404);
  CHECK(api.old("PUT", "/bindings/web", binding).at("message").find("may not be changed") !=
        std::string::npos);
}

TEST_CASE("a redirect leads to an address of the service") {
  legacy_test api;
  const auto none = api.old("GET", "/redirect/services/web");
  CHECK(none.status == 500);
  const auto made = api.old("POST", "/endpoints",
                            R"({"kind":"Endpoints","id":"web","endpoints":["10.1.2.3:80"]})");
  INFO(made.text());
  REQUIRE(made.status == 200);
  const auto there = api.old("GET", "/redirect/services/web");
  CHECK(there.status == 307);
  CHECK(there.headers.at("location") == "http://10.1.2.3:80");
  CHECK(api.old("GET", "/redirect/pods/web").status == 400);
}

TEST_CASE("a watch of 2014 delivers changes, from the state or from a revision") {
  legacy_test api;
  REQUIRE(api.old("POST", "/pods", pod("a")).status == 200);
  api.create_pod("b", R"({"tier":"x"})");
  watching state{api.old_where(), "/api/v1beta1/watch/pods?labels=app%3Dweb"};
  REQUIRE(state.status() == 200);
  const auto first = state.next();
  REQUIRE(first);
  CHECK(first->at("type") == "ADDED");
  CHECK(first->at("object.kind") == "Pod");
  CHECK(first->at("object.id") == "a");

  const auto revision = std::stoull(first->at("object.resourceVersion"));
  watching later{api.old_where(),
                 "/api/v1beta1/watch/pods/a?resourceVersion=" + std::to_string(revision + 1)};
  REQUIRE(api.old("DELETE", "/pods/a").status == 200);
  for (auto* each : {&state, &later}) {
    const auto event = each->next();
    REQUIRE(event);
    CHECK(event->at("type") == "DELETED");
    CHECK(event->at("object.id") == "a");
    CHECK(std::stoull(event->at("object.resourceVersion")) > revision);
  }
}

TEST_CASE("a watch by WebSocket sends each event as a message") {
  legacy_test api;
  REQUIRE(api.old("POST", "/pods", pod("a")).status == 200);
  test::http_client client{api.old_where()};
  client.send_request("GET", "/api/v1beta1/watch/pods?fields=ID%3Da", {},
                      {{"Connection", "Upgrade"},
                       {"Upgrade", "websocket"},
                       {"Sec-WebSocket-Version", "13"},
                       {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}});
  REQUIRE(client.receive_head().status == 101);
  const auto next = [&] {
    const auto head = client.receive_exactly(4);
    REQUIRE(head.size() == 4);
    CHECK(static_cast<unsigned char>(head[0]) == 0x81);
    REQUIRE(static_cast<unsigned char>(head[1]) == 126);
    const auto size =
        static_cast<unsigned char>(head[2]) * 256u + static_cast<unsigned char>(head[3]);
    return json_text{client.receive_exactly(size)};
  };
  CHECK(next().at("type") == "ADDED");
  REQUIRE(api.old("DELETE", "/pods/a").status == 200);
  const auto gone = next();
  CHECK(gone.at("type") == "DELETED");
  CHECK(gone.at("object.id") == "a");
}

TEST_CASE("objects live in the namespace that the client names") {
  legacy_test api;
  REQUIRE(api.post("/api/v1/namespaces", R"({"metadata":{"name":"team"}})").status == 201);
  REQUIRE(api.old("POST", "/pods?namespace=team", pod("web")).status == 200);
  CHECK(api.old("GET", "/pods/web").status == 404);
  CHECK(api.old("GET", "/pods/web?namespace=team").at("namespace") == "team");
  CHECK(api.get("/api/v1/namespaces/team/pods/web").status == 200);
  CHECK(api.old("POST", "/pods", pod("x", R"(,"namespace":"team")")).status == 400);
}

TEST_CASE("a pod without an id gets one, and where it runs is not the client's to say") {
  legacy_test api;
  const auto made =
      api.old("POST", "/pods",
              R"({"desiredState":{"host":"n","manifest":{"containers":[{"name":"c","image":"i"}]}},
          "currentState":{"status":"Running"}})");
  INFO(made.text());
  REQUIRE(made.status == 200);
  CHECK(made.at("id").size() == 36);
  CHECK(made.at("desiredState.host") == "");
  CHECK(made.at("currentState.status") == "Waiting");
}

TEST_CASE("every manifest of 2014 is accepted, shown as it was written, and runs") {
  static const std::map<std::string, std::string> paths = {
      {"Pod", "/pods"},
      {"ReplicationController", "/replicationControllers"},
      {"Service", "/services"}};
  for (const auto& manifest : test::legacy_manifests()) {
    legacy_test api{{.simulated_nodes = 3}};
    INFO(manifest.name);
    std::size_t pods = 0;
    for (const auto& text : manifest.objects) {
      const auto made = api.old("POST", paths.at(manifest.kind), text);
      INFO(made.text());
      CHECK(made.status == 200);
      CHECK(text.find(made.at("id")) != std::string::npos);
      if (manifest.kind == "Pod") ++pods;
      if (manifest.kind == "ReplicationController")
        pods += std::stoul(made.at("desiredState.replicas"));
    }
    CHECK(legacy_test::eventually([&] {
      const auto list = api.old("GET", "/pods");
      std::size_t running = 0;
      for (std::size_t i = 0; i < list.size("items"); ++i)
        running += list.at("items." + std::to_string(i) + ".currentState.status") == "Running";
      return running == pods;
    }));
  }
}

}  // namespace troupe::server

// The console's back end, queried over HTTP, of a running control plane.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <future>
#include <set>
#include <thread>

#include "actors/control_plane/leading_actors.hpp"
#include "actors/controllers/registry.hpp"
#include "server/console/defaults.hpp"
#include "server/fixtures/console_fixture.hpp"
#include "support/captured_log.hpp"

using namespace troupe;
using namespace troupe::server::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

struct nothing {};
struct dawdle {
  std::shared_future<void> until;
};

// Blocks its thread until the test releases it.
struct dawdler : runtime::actor {
  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&dawdler::on_dawdle, &dawdler::on_nothing);
    return table;
  }
  void on_dawdle(const dawdle& m) { m.until.wait(); }
  void on_nothing(const nothing&) {}
};

}  // namespace

TEST_CASE("actors are filtered, sorted and cut into pages by the server") {
  console_test t;
  t.create_controller("web", 7);
  REQUIRE(rest_test::eventually(
      [&] { return t.show("actors?kind=pod").headers.at("x-total-count") == "7"; }));
  const auto first = t.show("actors?kind=pod&sort=name&top=4");
  const auto rest = t.show("actors?kind=pod&sort=name&top=4&offset=4");
  CHECK(first.size("") == 4);
  CHECK(rest.size("") == 3);
  std::set<std::string> names;
  for (const auto* page : {&first, &rest})
    for (std::size_t i = 0; i < page->size(""); ++i)
      names.insert(page->at(std::to_string(i) + ".actor"));
  CHECK(names.size() == 7);
  CHECK(first.at("3.actor") < rest.at("0.actor"));
  CHECK(t.show("actors?match=pod/default/web-*").size("") == 7);
  CHECK(t.show("actors?match=fault/web-").size("") == 7);
  CHECK(t.show("actors?match=pod/other/*").size("") == 0);
  CHECK(t.show("actors?sort=colour").status == 400);
  CHECK(t.show("actors?top=many").status == 400);
  CHECK(t.show("actors?offset=10000").size("") == 0);
  CHECK(t.show("actors?offset=10001").status == 400);
}

TEST_CASE("an actor is described by its name or by a part of it") {
  console_test t;
  t.create_controller("web", 2);
  REQUIRE(rest_test::eventually([&] { return t.show("actors?kind=pod").size("") == 2; }));
  auto one = t.show("actor?name=writer");
  REQUIRE(one.status == 200);
  CHECK(one.at("actor") == "writer/writer");
  // On a busy machine it may take longer to answer than the console waits.
  CHECK(rest_test::eventually([&] {
    one = t.show("actor?name=writer");
    return one.at("answered") == "true";
  }));
  CHECK_THAT(one.at("stateYaml"), Contains("committed: "));
  CHECK(one.size("messages") > 0);
  CHECK(one.size("messages.0.times") == runtime::time_classes.size() + 1);
  CHECK(one.size("timesUpToSeconds") == runtime::time_classes.size());
  CHECK(one.size("lastMessages") > 0);
  const auto missing = t.show("actor?name=pod/default/none");
  CHECK(missing.status == 404);
  CHECK_THAT(missing.at("message"), Contains("pod/default/none"));
}

TEST_CASE("an actor shows its supervisor, its children and its subscriptions") {
  console_test t;
  t.create_controller("web", 2);
  REQUIRE(rest_test::eventually([&] { return t.show("actors?kind=pod").size("") == 2; }));
  auto pods = t.show("actor?name=supervisor/pods");
  // On a busy machine it may take longer to answer than the console waits.
  REQUIRE(rest_test::eventually([&] {
    pods = t.show("actor?name=supervisor/pods");
    return pods.at("answered") == "true";
  }));
  INFO(pods.text());
  CHECK_THAT(pods.text(), Contains(R"({"as":"watches","with":"watcher/watcher"})"));
  CHECK_THAT(pods.text(), Contains(R"({"as":"supervises","with":"pod/default/web-)"));
  CHECK(pods.size("subscriptions") == 2);
  CHECK_THAT(pods.text(), Contains(R"("watches":"pods/")") && Contains(R"("watches":"nodes/")"));
  const auto pod = t.show("actor?name=pod/default/" + t.first_pod());
  CHECK(pod.at("links.0.as") == "supervised by");
  CHECK(pod.at("links.0.with") == "supervisor/pods");
  CHECK(pod.size("subscriptions") == 0);
  const auto watcher = t.show("actor?name=watcher");
  for (std::size_t i = 0; i < server::defaults::links_shown; ++i) {
    const auto link = fmt::format("links.{}.", i);
    REQUIRE(watcher.at(link + "as") == "watched by");
    CHECK_THAT(t.show("actor?name=" + watcher.at(link + "with")).text(),
               Contains(R"({"as":"watches","with":"watcher/watcher"})"));
  }
}

TEST_CASE("a stuck actor is shown within the time limit of an answer") {
  console_test t;
  std::promise<void> leave;
  const auto stuck = t.system().spawn({"dawdler", "d"}, runtime::make<dawdler>());
  stuck.tell(dawdle{leave.get_future().share()});
  REQUIRE(rest_test::eventually(
      [&] { return !t.system().actors().find(stuck.id())->current.empty(); }));
  using clock = std::chrono::steady_clock;
  auto begin = clock::now();
  REQUIRE(t.show("store").status == 200);
  const auto of_any = clock::now() - begin;
  begin = clock::now();
  const auto found = t.show("actor?name=dawdler/d");
  const auto took = clock::now() - begin;
  CHECK(found.at("answered") == "false");
  CHECK(found.at("current") == "dawdle");
  // On a busy machine every answer takes longer.
  CHECK(took < std::chrono::milliseconds{1'000} + 50 * of_any);
  for (std::size_t i = 0; i <= server::defaults::warn_mailbox; ++i)
    stuck.tell(nothing{});
  CHECK(rest_test::eventually([&] {
    const auto warnings = t.show("warnings").text();
    return warnings.find(R"("warning":"handler","about":"dawdler/d")") != std::string::npos &&
           warnings.find(R"("warning":"mailbox","about":"dawdler/d")") != std::string::npos;
  }));
  leave.set_value();
}

TEST_CASE("the tree shows supervisors with their children") {
  console_test t;
  t.create_controller("web", 30);
  REQUIRE(rest_test::eventually([&] { return t.show("actors?kind=pod&top=100").size("") == 30; }));
  const auto tree = t.show("tree?root=supervisor/pods");
  CHECK(tree.at("0.actor") == "supervisor/pods");
  CHECK(tree.at("0.children") == "30");
  CHECK_THAT(tree.at("1.actor"), StartsWith("pod/default/web-"));
  CHECK(tree.at("1.depth") == "1");
  CHECK(tree.size("") == server::defaults::tree_children + 2);
  CHECK_THAT(tree.at(std::to_string(server::defaults::tree_children + 1) + ".actor"),
             Contains("10 more"));
}

TEST_CASE("why leads from a pod back to the client's request") {
  console_test t;
  t.create_controller("web", 1);
  const auto pod = t.first_pod();
  REQUIRE(rest_test::eventually([&] {
    return t.show("why?object=pods/default/" + pod).text().find("FailedScheduling") !=
           std::string::npos;
  }));
  const auto why = t.show("why?object=pods/default/" + pod);
  INFO(why.text());
  CHECK(why.at("0.what") == "replicationcontrollers/default/web was created");
  CHECK(why.at("0.by") == "admin");
  CHECK_THAT(why.at("0.because"),
             Contains("by admin: POST /api/v1/namespaces/default/replicationcontrollers"));
  CHECK(why.at("1.what") == "pods/default/" + pod + " was created");
  CHECK(why.at("1.by") == "replication-controller/default/web");
  CHECK(why.at("1.because") == "revision " + why.at("0.revision"));
}

TEST_CASE("a binding's cause is the pod's own last change, however many are bound in one go") {
  console_test t;
  t.start_nodes(2);
  t.create_controller("web", 20);
  std::vector<std::string> pods;
  t.plane().store().read().scan("/registry/pods/", {},
                                [&](std::string_view, const api::object_ptr& pod) {
                                  pods.push_back(pod->meta().name());
                                  return true;
                                });
  REQUIRE(pods.size() == 20);
  for (const auto& pod : pods) {
    std::string history;
    REQUIRE(rest_test::eventually([&] {
      history = t.show("history?object=pods/default/" + pod).text();
      return history.find("spec.nodeName") != std::string::npos &&
             history.find("status.phase") != std::string::npos;
    }));
    const json_text found{history};
    INFO(history);
    CHECK(found.at("1.by") == "scheduler/default-scheduler");
    CHECK(found.at("1.after") == found.at("0.revision"));
    REQUIRE_FALSE(found.at("0.request").empty());
    for (std::size_t i = 1; i < found.size(""); ++i)
      CHECK(found.at(std::to_string(i) + ".request") == found.at("0.request"));
  }
}

TEST_CASE("a change carries the request of its own pod in a message about several") {
  console_test t;
  const auto name = [](int i) { return fmt::format("p{}", i); };
  // For objects that existed before it started, the scheduler knows no request.
  REQUIRE(t.post("/api/v1/namespaces/default/pods", pod_json("first", "{}")).status == 201);
  REQUIRE(rest_test::eventually([&] {
    return t.get("/metrics").text().find("scheduler_pending_pods{queue=\"unschedulable\"} 1") !=
           std::string::npos;
  }));
  for (int i = 0; i < 20; ++i)
    REQUIRE(t.post("/api/v1/namespaces/default/pods", pod_json(name(i), "{}")).status == 201);
  t.start_nodes(1);
  for (int i = 0; i < 20; ++i) {
    json_text found{""};
    REQUIRE(rest_test::eventually([&] {
      found = json_text{t.show("history?object=pods/default/" + name(i)).text()};
      return found.text().find("Running") != std::string::npos;
    }));
    INFO(found.text());
    for (std::size_t k = 1; k < found.size(""); ++k)
      CHECK(found.at(std::to_string(k) + ".request") == found.at("0.request"));
  }
}

TEST_CASE("history shows every change of an object, also after its deletion") {
  console_test t;
  t.post("/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"c"},"data":{"a":"1"}})");
  test::http_client client{t.where()};
  client.request("PATCH", "/api/v1/namespaces/default/configmaps/c",
                 R"({"data":{"a":"2","b":"3"}})",
                 {{"content-type", "application/merge-patch+json"}});
  auto found = t.show("history?object=cm/c");
  REQUIRE(found.size("") == 2);
  CHECK(found.at("0.type") == "created");
  CHECK(found.at("1.by") == "admin");
  CHECK(found.at("1.request").size() == 16);
  CHECK(found.at("1.changes.0.path") == "data.a");
  CHECK(found.at("1.changes.0.from") == "\"1\"");
  CHECK(found.at("1.changes.0.to") == "\"2\"");
  CHECK(found.at("1.changes.1.path") == "data.b");
  client.request("DELETE", "/api/v1/namespaces/default/configmaps/c", {}, {});
  found = t.show("history?object=configmaps/default/c");
  REQUIRE(found.size("") == 3);
  CHECK(found.at("2.type") == "removed");
  CHECK(t.show("history?object=configmaps/default/other").status == 404);
  CHECK(t.show("history?object=unicorns/default/c").status == 404);
  CHECK(t.show("history?object=c").status == 400);
}

TEST_CASE("no answer of the console contains the data of a secret") {
  console_test t;
  watching lines{t.where(), "/console/api/trace"};
  t.post("/api/v1/namespaces/default/secrets",
         R"({"metadata":{"name":"s"},"stringData":{"key":"first-word"}})");
  test::http_client client{t.where()};
  client.request("PATCH", "/api/v1/namespaces/default/secrets/s",
                 R"({"metadata":{"annotations":{"last":"second-word"}},)"
                 R"("data":{"key":"dGhpcmQtd29yZA==","other":"Zm91cnRoLXdvcmQ="}})",
                 {{"content-type", "application/merge-patch+json"}});
  const auto reveals_nothing = [](const std::string& text) {
    INFO(text);
    for (const char* word : {"-word", "dGhpcmQ", "Zm91cnRo", "Zmlyc3Q"})
      CHECK_THAT(text, !Contains(word));
  };
  for (const char* view : {"history", "why"}) {
    const auto text = t.show(std::string{view} + "?object=secrets/default/s").text();
    reveals_nothing(text);
    CHECK_THAT(text, Contains("data.key"));
  }
  const auto actors = t.show("actors?top=1000");
  REQUIRE(actors.size("") > 5);
  for (std::size_t i = 0; i < actors.size(""); ++i)
    reveals_nothing(t.show("actor?name=" + actors.at(std::to_string(i) + ".actor")).text());
  for (const char* view : {"tree", "flow", "top", "warnings", "cluster", "watchers", "store",
                           "names?of=objects&prefix=secrets/default/"})
    reveals_nothing(t.show(view).text());
  reveals_nothing(t.get("/metrics").text());
  for (std::string text; text.find("watcher/watcher") == std::string::npos;) {
    const auto line = lines.next();
    REQUIRE(line);
    reveals_nothing(text = line->text());
  }
}

TEST_CASE("a trace of an object shows the actors that have its name, to their end") {
  console_test t;
  const auto worker = t.system().spawn({"worker", "default/w/7f3a"}, runtime::make<dawdler>());
  const auto other = t.system().spawn({"worker", "default/w2/7f3a"}, runtime::make<dawdler>());
  watching lines{t.where(), "/console/api/trace?object=pods/default/w&as=text"};
  REQUIRE(lines.status() == 200);
  REQUIRE(rest_test::eventually([&] { return t.show("actors?kind=trace").size("") == 1; }));
  worker.tell(nothing{});
  other.tell(nothing{});
  std::string text;
  const auto shown = [&](const std::string& label) {
    return rest_test::eventually([&] {
      if (const auto line = lines.next()) text += line->text() + "\n";
      return text.find(label) != std::string::npos;
    });
  };
  CHECK(shown("worker/default/w/7f3a nothing"));
  std::promise<void> at_once;
  at_once.set_value();
  worker.tell(dawdle{at_once.get_future().share()});
  REQUIRE(
      rest_test::eventually([&] { return t.system().actors().find(worker.id())->handled == 2; }));
  t.system().stop(worker);
  CHECK(shown("worker/default/w/7f3a dawdle"));
  CHECK_THAT(text, !Contains("default/w2"));
}

TEST_CASE("nothing is changed without the right to control") {
  console_test t;
  t.create_controller("web", 1);
  const auto refused = t.post("/console/api/kill?name=writer", "");
  CHECK(refused.status == 403);
  CHECK_THAT(refused.at("message"), Contains("--allow-control"));
  CHECK(t.get("/console/api/kill?name=writer").status == 404);
  CHECK(t.show("actor?name=writer").at("restarts") == "0");
}

TEST_CASE("an actor is paused, resumed, restarted and killed on request") {
  console_test t;
  CHECK(t.control("pause?name=recorder/recorder&seconds=60").at("done") == "pause");
  CHECK(t.show("actor?name=recorder/recorder").at("paused") == "true");
  CHECK(t.control("resume?name=recorder/recorder").status == 200);
  CHECK(t.show("actor?name=recorder/recorder").at("paused") == "false");
  const auto lives = [&](const char* count) {
    return rest_test::eventually(
        [&] { return t.show("actor?name=recorder/recorder").at("restarts") == count; });
  };
  CHECK(t.control("restart?name=recorder/recorder").status == 200);
  CHECK(lives("1"));
  CHECK(t.control("kill?name=recorder/recorder").status == 200);
  CHECK(lives("2"));
  CHECK_THAT(t.show("actor?name=recorder/recorder").at("lastError"), Contains("by admin"));
  CHECK(t.control("log?level=debug&actor=recorder/recorder").at("to") == "recorder/recorder");
  CHECK(t.show("actor?name=recorder/recorder").at("logLevel") == "debug");
  CHECK_FALSE(t.show("actor?name=writer/writer").has("logLevel"));
  CHECK(t.control("log?level=loud&actor=recorder/recorder").status == 400);
  CHECK(t.control("log?level=debug&actor=nobody/at-all").status == 404);
  CHECK(t.control("kill?name=nobody/at-all").status == 404);
  CHECK(t.control("dance?name=writer").status == 404);
}

TEST_CASE("console commands that change state are logged with all their arguments") {
  const test::captured_log log;
  console_test t;
  t.control("log?level=info&actor=recorder/recorder");
  CHECK_THAT(log.text(), Contains("console: log ") && Contains(" level=info") &&
                             Contains(" actor=recorder/recorder") && Contains("by admin"));
  t.control("send?name=writer&message=remove&object=pods/default/none");
  CHECK_THAT(log.text(), Contains(" message=remove") && Contains(" object=pods/default/none"));
}

TEST_CASE("a command sent from the console is executed by the writer") {
  console_test t;
  t.create_controller("web", 1);
  const auto pod = t.first_pod();
  CHECK(t.control("send?name=writer&message=bind&node=n1&object=pods/default/" + pod).status ==
        200);
  const auto history = t.show("history?object=pods/default/" + pod);
  CHECK_THAT(history.text(), Contains("console/admin"));
  CHECK(t.control("send?name=watcher&message=bind&object=pods/default/" + pod).status == 400);
  CHECK(t.control("send?name=writer&message=sing&object=pods/default/" + pod).status == 400);
}

TEST_CASE("killing any actor while a controller scales ends in the right number of pods") {
  console_test t;
  t.create_controller("web", 5);
  test::http_client client{t.where()};
  client.request("PATCH", "/api/v1/namespaces/default/replicationcontrollers/web",
                 R"({"spec":{"replicas":60}})", {{"content-type", "application/merge-patch+json"}});
  for (const char* victim :
       {"writer", "watcher", "replicationcontroller/default/web", "supervisor/replication",
        "supervisor/pods", "scheduler/default-scheduler", "garbage-collector", "recorder"}) {
    INFO(victim);
    CHECK(t.control(std::string{"kill?name="} + victim).status == 200);
  }
  CHECK(rest_test::eventually([&] { return t.count_pods() == 60; }));
  const auto settled = t.show("actors?kind=replicationcontroller");
  CHECK(settled.size("") == 1);
}

TEST_CASE("continuous use of the console changes no result") {
  console_test t;
  t.start_nodes(5);
  const watching lines{t.where(), "/console/api/trace"};  // of a client that does not read
  std::atomic<bool> done{false};
  std::thread looking{[&] {
    test::http_client client{t.where()};
    while (!done)
      for (const char* view : {"actors?sort=busy", "tree", "actor?name=writer", "top", "flow",
                               "warnings", "cluster", "watchers", "why?object=rc/web"})
        client.get(std::string{"/console/api/"} + view);
  }};
  t.create_controller("web", 500);
  CHECK(rest_test::eventually([&] {
    return json_text{t.get("/api/v1/namespaces/default/replicationcontrollers/web").text()}.at(
               "status.readyReplicas") == "500";
  }));
  done = true;
  looking.join();
  CHECK(t.count_pods() == 500);
}

TEST_CASE(
    "a subscriber that lags, an actor that crashes again and again, and a lease are warned of") {
  console_test t;
  const auto warned = [&](const std::string& label) {
    return t.show("warnings").text().find("{\"warning\":\"" + label + "\"") != std::string::npos;
  };
  for (const char* label : {"watcher", "restarts", "lease"})
    CHECK_FALSE(warned(label));

  // It accepts one event and requests no more.
  struct sleeper : runtime::actor {
    const runtime::behavior& make_behavior() const override {
      static const auto table = runtime::handlers(&sleeper::on_events);
      return table;
    }
    explicit sleeper(runtime::actor_ref watcher) : watcher_{std::move(watcher)} {}
    void started() override {
      tell(watcher_, actors::subscribe{.id = 1, .prefix = "/registry/pods/", .credit = 1});
    }
    void on_events(const actors::watch_events&) {}
    runtime::actor_ref watcher_;
  };
  t.system().spawn({.kind = "sleeper", .name = "s"},
                   runtime::make<sleeper>(t.plane().core_actors().watcher));
  t.create_controller("web", static_cast<int>(server::defaults::warn_revisions_behind) + 100);
  CHECK(rest_test::eventually([&] { return warned("watcher"); }));

  const auto past = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now() -
                                                         std::chrono::seconds{35});
  t.post("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases",
         fmt::format(R"({{"metadata":{{"name":"n1"}},"spec":{{"leaseDurationSeconds":40,)"
                     R"("renewTime":"{:%Y-%m-%dT%H:%M:%S}.000000Z"}}}})",
                     fmt::gmtime(past)));
  // Of an existing node: a lease without a node says nothing.
  CHECK_FALSE(warned("lease"));
  t.post("/api/v1/nodes", R"({"metadata":{"name":"n1"}})");
  CHECK(rest_test::eventually([&] { return warned("lease"); }));

  CHECK(rest_test::eventually([&] {
    t.control("restart?name=recorder");
    return warned("restarts");
  }));
}

TEST_CASE("a warning is still there for one when others have looked meanwhile") {
  console_test t;
  t.show("top");
  for (std::uint32_t i = 0; i < server::defaults::warn_restarts; ++i) {
    t.control("restart?name=recorder");
    REQUIRE(rest_test::eventually(
        [&] { return t.show("actor?name=recorder").at("restarts") == std::to_string(i + 1); }));
  }
  const auto looks = t.show("rates").size("");
  REQUIRE(rest_test::eventually([&] { return t.show("rates").size("") >= looks + 2; }));
  CHECK_THAT(t.show("warnings").text(), Contains(R"("warning":"restarts","about":"recorder/)"));
}

TEST_CASE("the log's level is changed while it runs, for all or for one") {
  console_test t;
  const auto shown = t.show("log");
  REQUIRE(shown.size("") > 0);
  const auto name = shown.at("0.logger");
  const auto before = shown.at("0.level");
  CHECK(t.control("log?level=error&logger=" + name).status == 200);
  CHECK(t.show("log").at("0.level") == "error");
  CHECK(t.control("log?level=" + before + "&logger=" + name).status == 200);
  CHECK(t.control("log?level=loud").status == 400);
  CHECK(t.control("log?level=info&logger=nobody").status == 400);
}

TEST_CASE("the state of the cluster, the store and the watchers is shown") {
  console_test t;
  t.create_controller("web", 3);
  const auto cluster = t.show("cluster");
  CHECK(cluster.at("controlPlane") == "here");
  REQUIRE(rest_test::eventually([&] { return t.show("cluster").at("podsWithoutNode") == "3"; }));
  CHECK(t.show("cluster").at("podsCountedAt") <= t.show("cluster").at("revision"));
  CHECK(cluster.at("controllers.0.of") == "ReplicationController");
  CHECK(cluster.at("controllers.0.objects") == "1");
  CHECK(cluster.size("controllers") >= actors::known_controllers().size());
  REQUIRE(cluster.size("leading") == actors::leading_actors().size());
  for (std::size_t i = 0; i < cluster.size("leading"); ++i) {
    const auto row = "leading." + std::to_string(i);
    // This control plane signs no tokens, and has no addresses for pods.
    const auto actor = cluster.at(row + ".actor");
    INFO(actor);
    const bool idle = actor == "token-secrets/token-secrets" ||
                      actor == "pod-range-allocator/pod-range-allocator";
    CHECK(rest_test::eventually(
        [&] { return t.show("cluster").at(row + ".running") == (idle ? "false" : "true"); }));
  }
  CHECK(std::stoul(t.show("store").at("revision")) > 3);
  const auto watchers = t.show("watchers?top=1000");
  CHECK(watchers.headers.at("x-total-count") == std::to_string(watchers.size("")));
  CHECK_THAT(watchers.text(), Contains("supervisor/pods"));
  const auto top = t.show("top");
  CHECK(top.size("kinds") > 5);
  CHECK(top.has("fsyncP99Seconds"));
  CHECK_THAT(t.show("flow").text(),
             Contains(R"("from":"replicationcontroller","to":"term-writer")"));
}

TEST_CASE("names are completed, of actors and of objects") {
  console_test t;
  t.create_controller("web", 2);
  const auto pod = t.first_pod();
  REQUIRE(rest_test::eventually([&] { return t.show("actors?kind=pod").size("") == 2; }));
  CHECK_THAT(t.show("names?prefix=pod/def").text(), Contains("pod/default/" + pod));
  CHECK_THAT(t.show("names?of=objects&prefix=pods/default/w").text(),
             Contains("pods/default/" + pod));
  CHECK(t.show("names?of=objects&prefix=unicorns/").size("") == 0);
}

TEST_CASE("where more names fit than are shown, completion goes as far as all of them agree") {
  console_test t;
  for (int i = 0; i < 130; ++i)
    t.post("/api/v1/namespaces/default/configmaps",
           fmt::format(R"({{"metadata":{{"name":"item-{:03}"}}}})", i));
  const auto names = t.show("names?of=objects&prefix=cm/default/it");
  CHECK(names.size("") == server::defaults::names_shown + 1);
  CHECK(names.at("0") == "cm/default/item-");
  CHECK(names.headers.at("x-total-count") == "130");
  t.start_nodes(130);
  REQUIRE(rest_test::eventually([&] {
    const auto actors = t.show("names?prefix=simulated-minion/sim");
    return actors.headers.at("x-total-count") == "130" &&
           actors.at("0") == "simulated-minion/simulated-0";
  }));
}

TEST_CASE("the same answer comes as text and as YAML") {
  console_test t;
  CHECK_THAT(t.show("actors?kind=writer&as=text").text(), StartsWith("ACTOR"));
  CHECK_THAT(t.show("store?as=yaml").text(), StartsWith("revision: "));
  CHECK(t.show("store?as=music").status == 400);
}

TEST_CASE("the page is part of the program and loads nothing from other servers") {
  console_test t;
  const auto page = t.get("/console/");
  CHECK(page.status == 200);
  CHECK_THAT(page.headers.at("content-security-policy"), Contains("default-src 'none'"));
  CHECK(t.get("/console/app.js").status == 200);
  CHECK(t.get("/console/style.css").status == 200);
  for (const char* path : {"/console/", "/console/app.js", "/console/style.css"}) {
    const auto text = t.get(path).text();
    CHECK_THAT(text, !Contains("http://") && !Contains("https://"));
  }
  CHECK(t.get("/console/other").status == 404);
}

// The console across nodes: a joined node's own console behind the control plane's.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <future>

#include "server/console/defaults.hpp"
#include "server/console/handlers/node_console.hpp"
#include "server/console/trace/trace_page.hpp"
#include "server/fixtures/console_fixture.hpp"

using namespace troupe;
using namespace troupe::server;
using namespace troupe::server::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

struct poke {};

// An actor of a joined node; `words` are its state.
struct worker : runtime::actor {
  explicit worker(std::string text) : words{std::move(text)} {}
  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers(&worker::on_poke);
    return table;
  }
  void on_poke(const poke&) {}
  std::string describe() const override { return words; }
  std::string words;
};

// The machine "far" with its actors, at the other end of a link that never fails.
class far_machine : public other_nodes {
 public:
  far_machine() {
    for (int i = 0; i < 3; ++i)
      spawn("pod", "default/far-" + std::to_string(i), "phase: Running\n");
  }

  runtime::actor_ref spawn(const std::string& kind, const std::string& name,
                           const std::string& words) {
    return system.spawn({.kind = kind, .name = name}, runtime::make<worker>(words));
  }

  void ask(const std::string& node, console_question question, std::chrono::milliseconds,
           std::size_t, answered done) override {
    if (down) {
      done(console_failure(503, "the link to " + node + " is down"));
    } else if (node != "far") {
      done(console_failure(404, "no node has joined as " + node));
    } else {
      console.ask(std::move(question), std::move(done));
    }
  }
  std::vector<node_link> links() const override {
    node_link link;
    link.node = "far";
    link.peer = "10.0.0.2:40000";
    link.connected = true;
    link.messages_in = 100 * ++looks;
    return {link};
  }
  // The answer of its own console, without the control plane.
  console_answer answer(console_question question) {
    std::promise<console_answer> answer;
    console.ask(std::move(question), [&](console_answer one) { answer.set_value(std::move(one)); });
    return answer.get_future().get();
  }

  runtime::actor_system system;
  node_console console{system, "far"};
  mutable std::atomic<std::uint64_t> looks{0};
  std::atomic<bool> down{false};
};

}  // namespace

TEST_CASE("the actors of a joined node are seen from the control plane's console") {
  const auto far = std::make_shared<far_machine>();
  console_test t{far};
  const auto rows = t.show("actors?node=far&kind=pod&sort=name&top=2");
  REQUIRE(rows.status == 200);
  CHECK(rows.headers.at("x-total-count") == "3");
  CHECK(rows.size("") == 2);
  CHECK(rows.at("0.actor") == "pod/default/far-0");
  CHECK(rows.at("0.node") == "far");
  CHECK(t.show("actors?match=*far*").size("") == 0);
  auto one = t.show("actor?name=pod/default/far-1&node=far");
  CHECK(one.at("node") == "far");
  // On a busy machine it may take longer to answer than the console waits.
  CHECK(rest_test::eventually([&] {
    one = t.show("actor?name=pod/default/far-1&node=far");
    return one.at("stateYaml") == "phase: Running\n";
  }));
  CHECK_FALSE(one.has("subscriptions"));
  CHECK(rest_test::eventually([&] {
    const auto text = t.show("actor?name=pod/default/far-1&node=far&as=text").text();
    return text.starts_with("ACTOR") && text.find("phase: Running") != std::string::npos;
  }));
  CHECK_THAT(t.show("names?prefix=pod/default/&node=far").text(), Contains("far-2"));
  CHECK(t.show("tree?node=far").size("") == 3);
  CHECK(t.show("top?node=far").at("actors") == "3");
  CHECK_FALSE(t.show("top?node=far").has("revision"));
  CHECK(t.show("warnings?node=far").size("") == 0);
  CHECK(t.show("actors?node=here&kind=writer").size("") == 1);
}

TEST_CASE("an error about a joined node names the missing actor, node or link") {
  const auto far = std::make_shared<far_machine>();
  console_test t{far};
  const auto missing = t.show("actor?name=pod/default/none&node=far");
  CHECK(missing.status == 404);
  CHECK_THAT(missing.at("message"), Contains("pod/default/none"));
  const auto strange = t.show("actors?node=nowhere");
  CHECK(strange.status == 404);
  CHECK(strange.at("reason") == "NotFound");
  CHECK_THAT(strange.at("message"), Contains("nowhere"));
  CHECK_THAT(console_test{}.show("actors?node=far").at("message"), Contains("no link to far"));
}

TEST_CASE("the store's views are the same from every node") {
  const auto far = std::make_shared<far_machine>();
  console_test t{far};
  CHECK(t.show("store?node=far").has("revision"));
  for (const char* target : {"store", "cluster", "watchers", "history?object=pods/default/a"}) {
    const auto answer = far->answer({target});
    CHECK(answer.status == 404);
    CHECK_THAT(answer.body, Contains("ask the control plane"));
  }
}

TEST_CASE("a joined node's console survives any request") {
  far_machine far;
  for (const auto& [target, status] : std::initializer_list<std::pair<std::string, int>>{
           {"", 404},
           {"?", 404},
           {"actors?top=%zz&&=", 400},
           {"actors?as=music", 400},
           {"trace", 200},
           {"trace?name=pod/default/none", 404},
           {"trace?after=", 400},
           {"trace?after=1.2.3", 400},
           {"trace?after=1.2.3.4.5.6.7.8.9", 400},
           {"trace?after=99999999999999999999999.0.0.0.0.0.0.0", 400},
           {"trace?after=9999999999.0.0.0.0.0.0.0", 200},
           {"names?of=objects&prefix=pods/", 200},
           {"actors?match=" + std::string(10'000, '*'), 413}}) {
    INFO(target.substr(0, 40));
    CHECK(far.answer({target}).status == status);
  }
  far.spawn("talker", "t", std::string(2 << 20, 'x'));
  const auto answer = far.answer({"actor?name=talker/t"});
  CHECK(answer.status == 413);
  CHECK_THAT(answer.body, Contains("too long"));
}

TEST_CASE("an order to an actor of a joined node needs the same right and names its user") {
  const auto far = std::make_shared<far_machine>();
  console_test t{far};
  const auto refused = t.post("/console/api/kill?name=pod/default/far-0&node=far", "");
  CHECK(refused.status == 403);
  CHECK(t.control("kill?name=pod/default/far-0&node=far").at("done") == "kill");
  CHECK(rest_test::eventually(
      [&] { return t.show("actor?name=pod/default/far-0&node=far").at("restarts") == "1"; }));
  CHECK_THAT(t.show("actor?name=pod/default/far-0&node=far").at("lastError"), Contains("by admin"));
  CHECK(far->answer({"send?name=pod/default/far-0&object=pods/default/x", true, "admin"}).status ==
        400);
  CHECK(far->answer({"dance", true, "admin"}).status == 404);
}

TEST_CASE("an actor of a joined node is traced from the control plane's console") {
  const auto far = std::make_shared<far_machine>();
  console_test t{far};
  const auto talker = far->spawn("talker", "t", "");
  const auto other = far->spawn("talker", "u", "");
  watching lines{t.where(), "/console/api/trace?node=far&name=talker/t"};
  REQUIRE(lines.status() == 200);
  for (int i = 0; i < 3; ++i) {
    other.tell(poke{});
    talker.tell(poke{});
  }
  for (int i = 0; i < 3; ++i) {
    const auto line = lines.next();
    REQUIRE(line);
    CHECK(line->at("to") == "talker/t");
    CHECK_THAT(line->at("type"), Contains("poke"));
  }
  talker.tell(poke{});
  REQUIRE(lines.next());
  far->down = true;
  const auto last = lines.next();
  REQUIRE(last);
  CHECK(last->at("ended") == "true");
  CHECK_FALSE(lines.next());
  CHECK(rest_test::eventually([&] { return t.show("actors?kind=trace").size("") == 0; }));
}

TEST_CASE("an object is traced on the joined node that runs it") {
  const auto far = std::make_shared<far_machine>();
  console_test t{far};
  const auto pod = far->spawn("pod-worker", "default/zz/7f3a", "");
  const auto other = far->spawn("pod-worker", "default/zz2/7f3a", "");
  const auto around = far->spawn("kubelet", "far", "");
  watching lines{t.where(), "/console/api/trace?node=far&object=cm/zz&as=text"};
  REQUIRE(lines.status() == 200);
  const auto made =
      t.post("/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"zz"}})");
  const auto at = std::stoul(json_text{made.text()}.at("metadata.resourceVersion"));
  std::string text;
  const auto shows = [&](const std::string& label) {
    return rest_test::eventually([&] {
      other.tell(poke{}, {.revision = at + 1});
      around.tell(poke{}, {.revision = at});
      if (const auto line = lines.next()) text += line->text() + "\n";
      return text.find(label) != std::string::npos;
    });
  };
  INFO("what its change caused");
  CHECK(shows(fmt::format("kubelet/far poke revision {}", at)));
  INFO("its actor, also what it did last");
  pod.tell(poke{});
  CHECK(shows("pod-worker/default/zz/7f3a poke"));
  pod.tell(poke{}, {.request = 0xfeed});
  REQUIRE(rest_test::eventually([&] { return far->system.actors().find(pod.id())->handled == 2; }));
  far->system.stop(pod);
  CHECK(shows("poke request 000000000000feed"));
  CHECK_THAT(text, !Contains("default/zz2"));
}

TEST_CASE("a page of a trace says how much of it is missing") {
  far_machine far;
  const auto talker = far.spawn("talker", "t", "");
  const auto page = [&](const std::string& more) {
    return parse_trace_page(far.answer({"trace?name=talker/t&as=text" + more}).body).value();
  };
  const auto begin = page("");
  CHECK(begin.events.text.empty());
  for (int i = 0; i < 80'000; ++i)
    talker.tell(poke{});
  REQUIRE(rest_test::eventually(
      [&] { return far.system.actors().find(talker.id()).value().handled >= 80'000; }));
  const auto next = page("&after=" + begin.after);
  CHECK(next.events.lines == server::defaults::trace_lines);
  CHECK(std::count(next.events.text.begin(), next.events.text.end(), '\n') ==
        static_cast<std::ptrdiff_t>(next.events.lines));
  CHECK(next.events.lines + next.events.lost >= 80'000);
  CHECK(page("&after=" + next.after).events.lines == 0);
}

TEST_CASE("a trace that cannot begin on a joined node says why") {
  const auto far = std::make_shared<far_machine>();
  console_test t{far};
  CHECK_THAT(t.show("trace?node=far&name=pod/default/none").at("message"),
             Contains("pod/default/none"));
  CHECK(t.show("trace?node=nowhere").status == 404);
  far->down = true;
  CHECK(t.show("trace?node=far").status == 503);
  CHECK(t.show("actors?kind=trace").size("") == 0);
}

TEST_CASE("the cluster shows its links with their rates, and the tree their nodes") {
  const auto far = std::make_shared<far_machine>();
  console_test t{far};
  REQUIRE(rest_test::eventually([&] {
    const auto cluster = t.show("cluster");
    return cluster.size("links") == 1 && std::stod(cluster.at("links.0.inPerSecond")) > 0;
  }));
  const auto cluster = t.show("cluster");
  CHECK(cluster.at("links.0.node") == "far");
  CHECK(cluster.at("links.0.peer") == "10.0.0.2:40000");
  CHECK(cluster.has("messagesPerSecond"));
  CHECK_THAT(t.show("tree?depth=0").text(), Contains("node/far"));
}

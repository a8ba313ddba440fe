// The console's page in a real browser: search, open an actor, follow a trace, history of an
// object.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "support/skip.hpp"
#include "tools/browser.hpp"
#include "tools/console_node.hpp"

using namespace troupe::tools::test;

namespace {

bool has_browser() {
  if (!browser::program().empty()) return true;
  troupe::test::skip("no Chromium is installed");
  return false;
}

const std::string press =
    "document.dispatchEvent(Object.assign(new KeyboardEvent('keydown', {key: KEY, bubbles: "
    "true})))";

std::string key(const std::string& name) {
  auto text = press;
  return text.replace(text.find("KEY"), 3, "'" + name + "'") + " !== null";
}

std::string submit(const std::string& words) {
  return "(() => { const input = document.querySelector('.search'); input.value = '" + words +
         "'; input.form.requestSubmit(); return true; })()";
}

void log_in(browser& page, const console_node& node) {
  REQUIRE(page.comes_to_hold("document.getElementById('login').open"));
  REQUIRE(page.holds("(() => { token.value = '" + node.token() +
                     "'; document.querySelector('#login button').click(); return true; })()"));
  REQUIRE(page.comes_to_hold("document.querySelectorAll('tbody tr').length > 5"));
}

// If PICTURES is set to a folder, saves the pictures for the docs there.
void keep_picture(browser& page, const std::string& name) {
  if (const char* folder = std::getenv("PICTURES"))
    std::ofstream{std::string{folder} + "/" + name + ".png.base64"} << page.screenshot();
}

}  // namespace

TEST_CASE("the page shows the last requested view, and keeps its selection") {
  if (!has_browser()) return;
  const console_node node;
  browser page;
  page.open(node.server() + "/console/");
  log_in(page, node);

  INFO("a view that is slow does not take another one's place");
  REQUIRE(page.holds(
      "(() => { const plain = ask; ask = async (path, ...more) => { const answer = await "
      "plain(path, ...more); if (path === 'rates') await new Promise((r) => setTimeout(r, 300)); "
      "return answer; }; return true; })()"));
  REQUIRE(page.holds("Promise.all([show('live'), show('actors')]).then(() => true)"));
  CHECK(page.holds("document.querySelector('[aria-current]').id === 'tab-actors'"));
  CHECK(page.holds("document.getElementById('count') !== null"));
  CHECK(page.holds("document.querySelector('figure') === null"));

  INFO("what is drawn again keeps its mark");
  REQUIRE(page.holds(
      "(() => { const plain = askJson; let top; askJson = async (path, query) => { const answer = "
      "await plain(path, query); if (path !== 'top') return answer; answer.body.busiest = [{actor: "
      "'a/a'}, {actor: 'b/b'}]; return answer; }; return true; })()"));
  REQUIRE(page.holds("show('live').then(() => { mark(1); mark(1); return true; })"));
  REQUIRE(page.holds("(() => { document.querySelector('figure').old = true; return true; })()"));
  REQUIRE(page.comes_to_hold("!document.querySelector('figure').old"));
  CHECK(page.holds("document.querySelector('tr.marked')?.firstChild.textContent === 'b/b'"));

  INFO("lines of a trace stay whole");
  CHECK(page.holds(
      "(() => { const parts = ['a li', 'ne\\nb\\n'].map((t) => new TextEncoder().encode(t)); const "
      "into = {}; return follow({read: async () => parts.length ? {done: false, value: "
      "parts.shift()} : {done: true}}, into).then(() => into.textContent === 'a line\\nb'); })()"));
}

TEST_CASE("the page finds actors, follows them and shows an object's history") {
  if (!has_browser()) return;
  const console_node node;
  browser page;
  page.open(node.server() + "/console/");

  INFO("it asks for credentials and shows nothing before");
  REQUIRE(page.comes_to_hold("document.getElementById('login').open"));
  CHECK(page.holds("document.querySelectorAll('tbody tr').length === 0"));
  REQUIRE(page.holds("(() => { token.value = '" + node.token() +
                     "'; document.querySelector('#login button').click(); return true; })()"));
  REQUIRE(page.comes_to_hold("document.querySelectorAll('tbody tr').length > 5"));
  keep_picture(page, "console-actors");

  INFO("search");
  REQUIRE(page.holds(submit("watcher")));
  REQUIRE(page.comes_to_hold("document.getElementById('count').textContent === '1–1 of 1'"));

  INFO("an actor opens by the keyboard");
  REQUIRE(page.holds(key("j")));
  REQUIRE(page.holds(key("Enter")));
  REQUIRE(page.comes_to_hold("!detail.hidden && detail.textContent.includes('streams:')"));
  CHECK(page.holds("detail.textContent.includes('watched by')"));
  keep_picture(page, "console-actor");

  INFO("its messages are followed");
  REQUIRE(
      page.holds("(() => { [...detail.querySelectorAll('button')].find((b) => "
                 "b.textContent === 'Trace').click(); return true; })()"));
  REQUIRE(page.comes_to_hold(
      "document.getElementById('trace').textContent.includes('-> watcher/watcher more')"));

  INFO("an object tells its history");
  REQUIRE(page.holds(key("5")));
  REQUIRE(
      page.comes_to_hold("document.querySelector('.search').placeholder.startsWith('an object')"));
  REQUIRE(page.holds(submit("nodes/simulated-0000")));
  REQUIRE(
      page.comes_to_hold("view.textContent.includes('History') && "
                         "view.textContent.includes('kubelet/simulated-0000')"));
  keep_picture(page, "console-object");

  INFO("rates, tree, flow, cluster and store");
  for (const auto& [number, word] :
       {std::pair{"2", "supervisor/pods"}, std::pair{"3", "busiest"}, std::pair{"4", "mean wait"},
        std::pair{"7", "simulated-0000"}, std::pair{"8", "log revisions"}}) {
    INFO(word);
    REQUIRE(page.holds(key(number)));
    CHECK(
        page.comes_to_hold(std::string{"view.textContent.toLowerCase().includes('"} + word + "')"));
  }
  INFO("a machine that has no link is said to have none, and one is led back");
  REQUIRE(page.holds("(() => { look('far'); return true; })()"));
  REQUIRE(page.comes_to_hold("document.getElementById('status').textContent.includes('far')"));
  REQUIRE(page.holds("(() => { document.getElementById('node').click(); return true; })()"));
  REQUIRE(page.comes_to_hold("document.querySelectorAll('tbody tr').length > 5"));

  INFO("dark and light, and nothing from elsewhere");
  REQUIRE(page.holds(key("t")));
  CHECK(page.holds("document.documentElement.dataset.theme === 'dark'"));
  CHECK(
      page.holds("performance.getEntriesByType('resource').every((e) => "
                 "e.name.startsWith(location.origin))"));
}

// TROUPE_BENCH_PODS sets the number.
TEST_CASE("bench: the page with many actors", "[.bench]") {
  if (browser::program().empty()) {
    troupe::test::skip("no Chromium is installed");
    return;
  }
  const char* wanted = std::getenv("TROUPE_BENCH_PODS");
  const auto pods = wanted != nullptr ? std::strtoul(wanted, nullptr, 10) : 100'000;
  const console_node node{{"--simulated-nodes", std::to_string(pods / 100 + 1)}};
  browser page;
  page.open(node.server() + "/console/");
  log_in(page, node);
  constexpr std::size_t each = 5'000;
  for (std::size_t made = 0; made < pods; made += each) {
    const auto name = "web-" + std::to_string(made);
    const auto labels = R"({"app":")" + name + R"("})";
    REQUIRE(page.holds(
        "fetch('/api/v1/namespaces/default/replicationcontrollers', {method: 'POST', headers: "
        "{...headers(), 'content-type': 'application/json'}, body: JSON.stringify({metadata: "
        "{name: '" +
        name + "'}, spec: {replicas: " + std::to_string(std::min(each, pods - made)) +
        ", selector: " + labels + ", template: {metadata: {labels: " + labels +
        "}, spec: {containers: [{name: 'c', image: 'x'}]}}}})}).then((r) => r.ok)"));
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes{4};
  const auto running = "askJson('actors', {kind: 'pod', top: 1}).then((a) => a.total)";
  while (page.number(running) < static_cast<double>(pods))
    REQUIRE(std::chrono::steady_clock::now() < until);
  const auto time = [&](const std::string& name, const std::string& script) {
    std::vector<double> times;
    for (int i = 0; i < 5; ++i)
      times.push_back(
          page.number("(async () => { const begin = performance.now(); " + script +
                      "; await new Promise((r) => requestAnimationFrame(() => setTimeout(r))); "
                      "return performance.now() - begin; })()"));
    std::sort(times.begin(), times.end());
    std::printf("%-44s %7.1f ms, %7.1f ms at worst\n", name.c_str(), times[2], times.back());
  };
  for (const char* view : {"actors", "tree", "live", "flow", "cluster", "store"})
    time(std::string{"view "} + view, std::string{"await show('"} + view + "')");
  REQUIRE(page.holds("show('actors').then(() => true)"));
  time("search of a part of a name", "state.actors.match = 'b'; await reload()");
  time("a pattern that nothing matches", "state.actors.match = '*zz*q'; await reload()");
  time("a page further", "state.actors.match = ''; state.actors.offset += 100; await reload()");
  time("page 100, by name",
       "state.actors.sort = 'name'; state.actors.offset = 10000; await reload()");
  time("ten rows down", "state.actors.offset = 0; for (let i = 0; i < 10; ++i) mark(1)");
  time("an actor opens", "await openActor('supervisor/pods')");
  CHECK(page.holds("!detail.hidden && detail.textContent.includes('pods: " + std::to_string(pods) +
                   "')"));
}

// The console's page in a real browser: search, open an actor, follow a trace, history of an
// object.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "tools/browser.hpp"
#include "tools/console_node.hpp"

using namespace troupe::tools::test;

namespace {

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

// With PICTURES set to a folder the pictures for the docs are kept there.
void keep_picture(browser& page, const std::string& name) {
  if (const char* folder = std::getenv("PICTURES"))
    std::ofstream{std::string{folder} + "/" + name + ".png.base64"} << page.screenshot();
}

}  // namespace

TEST_CASE("the page finds actors, follows them and tells an object's history") {
  if (browser::program().empty()) {
    WARN("no Chromium on this machine: the page is not tested");
    return;
  }
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
  INFO("dark and light, and nothing from elsewhere");
  REQUIRE(page.holds(key("t")));
  CHECK(page.holds("document.documentElement.dataset.theme === 'dark'"));
  CHECK(
      page.holds("performance.getEntriesByType('resource').every((e) => "
                 "e.name.startsWith(location.origin))"));
}

// A node in a control group with little memory: it serves, or it reports how much it needs. The
// kernel kills a process that uses more, without a message. And the pages of an idle node.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <iostream>
#include <stdexcept>

#include "benchmark/http_load/http_load.hpp"
#include "build_paths.hpp"
#include "support/http_client.hpp"
#include "support/programs/shell.hpp"
#include "support/sanitizer.hpp"
#include "support/scratch_folder.hpp"
#include "system/control_group.hpp"
#include "system/node.hpp"

namespace fs = std::filesystem;
using namespace troupe;
using namespace troupe::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

const std::string space = "/api/v1/namespaces/default/";
const http_client::fields json{{"content-type", "application/json"}};

std::vector<std::string> flags(const char* nodes) {
  return {"--runtime", "simulated", "--simulated-nodes", nodes, "--log-level", "error"};
}

void make_maps(const node& at) {
  const auto where = at.where();
  bench::load_options load;
  load.port = where.port;
  load.certificate = where.certificate;
  load.private_key = where.private_key;
  load.requests = 50'000;
  load.duration = 600s;
  load.next = [](std::uint64_t i) {
    return bench::load_request{"POST", space + "configmaps",
                               R"({"metadata":{"name":"m)" + std::to_string(i) +
                                   R"("},"data":{"d":")" + std::string(100, 'x') + "\"}}",
                               "application/json"};
  };
  const auto done = bench::run_load(load);
  REQUIRE(done);
  REQUIRE(done->refused == 0);
}

void make_pods(const node& at) {
  http_client client{at.where()};
  REQUIRE(client
              .request("POST", space + "replicationcontrollers",
                       R"({"metadata":{"name":"r"},"spec":{"replicas":10000,"selector":{"a":"b"},
"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"x"}]}}}})",
                       json)
              .status == 201);
  const auto deadline = std::chrono::steady_clock::now() + 300s;
  while (client.get(space + "replicationcontrollers/r").body.find("\"readyReplicas\":10000") ==
         std::string::npos)
    REQUIRE(std::chrono::steady_clock::now() < deadline);
}

// Lists all pages of a resource, like clients that start.
void read_all(http_client& client, const std::string& resource) {
  std::string more;
  do {
    const auto body = client.get(space + resource + "?limit=500" + more).body;
    const auto at = body.find("\"continue\":\"");
    more = at == std::string::npos
               ? ""
               : "&continue=" + body.substr(at + 12, body.find('"', at + 12) - at - 12);
  } while (!more.empty());
}

struct filling {
  const char* name;
  const char* nodes;
  std::function<void(const node&)> fill;
  std::string resource;
};

}  // namespace

TEST_CASE("a start in a control group with little memory serves, or reports the needed memory") {
  if (!memory_is_the_programs()) return;  // sanitizers use a multiple
  const auto group = control_group::make("memory");
  if (!group) return;
  const auto given = GENERATE(values<filling>({{"50,000 config maps", "1", make_maps, "configmaps"},
                                               {"10,000 pods", "100", make_pods, "pods"}}));
  const scratch_folder folder;
  const auto data = folder.path() / "data";
  {
    const node full{data, flags(given.nodes)};
    given.fill(full);
  }
  int ready = 0;
  for (const int limit_mb : {40, 100, 160, 400}) {
    INFO(given.name << " in " << limit_mb << " MB");
    group->limit(std::to_string(limit_mb << 20));
    const auto log = data.string() + ".log";
    fs::remove(log);
    try {
      node here{data, flags(given.nodes), group->wrapper()};
      http_client client{here.where()};
      // The work of the start is over by then: every actor has its objects.
      for (const auto until = std::chrono::steady_clock::now() + 5s;
           std::chrono::steady_clock::now() < until;)
        read_all(client, given.resource);
      here.signal(SIGTERM);
      CHECK(here.wait(60s) == 0);
      ++ready;
      std::cout << given.name << ": ready in " << limit_mb << " MB" << std::endl;
    } catch (const std::runtime_error& refused) {
      CHECK_THAT(refused.what(), Contains("ended with 1: "));
      const auto said = read_file(log);
      CHECK_THAT(said, Contains("troupe: ") && Contains("MiB of memory, and this process may use"));
      CHECK(std::count(said.begin(), said.end(), '\n') == 1);
      std::cout << given.name << ": " << said;
    }
  }
  CHECK(ready >= 1);
}

TEST_CASE("an idle node has no huge pages") {
  if (!memory_is_the_programs()) return;
  if (!Contains("[always]").match(read_file("/sys/kernel/mm/transparent_hugepage/enabled")))
    return skip("huge pages: this kernel gives them only to programs that request them");
  const scratch_folder folder;
  const node here{folder.path() / "data", flags("1")};
  const auto pages = read_file("/proc/" + std::to_string(here.id()) + "/smaps_rollup");
  INFO(pages);
  const auto at = pages.find("AnonHugePages:");
  REQUIRE(at != std::string::npos);
  CHECK(std::stoul(pages.substr(at + 14)) <= 2'048);  // kB: one, of a stack
}

TEST_CASE("a node without the minimum of memory reports it, also when it joins") {
  const auto group = control_group::make("memory");
  if (!group) return;
  group->limit(std::to_string(10 << 20));
  const scratch_folder folder;
  const auto data = (folder.path() / "data").string();
  for (const auto& command :
       {"node --data-dir " + data, "join 127.0.0.1:1 --token a.b --data-dir " + data}) {
    const auto ran =
        shell("(" + group->prefix() + TROUPE_BINARY_DIR "/troupe " + command + ") 2>&1");
    CHECK(ran.code == 1);
    CHECK(ran.output ==
          "troupe: a node needs 24 MiB of memory to start and may use 10 MiB: give its control "
          "group more\n");
    CHECK_FALSE(fs::exists(data));
  }
}

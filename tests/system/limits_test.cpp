// A node on a machine with too few resources: a start that fails is reported in one line, a running
// node keeps running.
#include <sys/resource.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

#include "build_paths.hpp"
#include "support/http_client.hpp"
#include "support/programs/shell.hpp"
#include "support/sanitizer.hpp"
#include "support/scratch_folder.hpp"
#include "system/control_group.hpp"
#include "system/node.hpp"

namespace fs = std::filesystem;
using namespace troupe::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

// A node that is expected not to start.
process_result start_refused(const fs::path& data, const std::string& before) {
  return shell("(" + before + "timeout 60 " TROUPE_BINARY_DIR "/troupe node --data-dir " +
               data.string() + " --listen 127.0.0.1:0 --log-level error) 2>&1");
}

bool wait_until(const std::function<bool()>& done, std::chrono::seconds limit = 60s) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock guard{mutex};
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    never.wait_for(guard, 20ms);
  }
  return true;
}

const std::string pods = "/api/v1/namespaces/default/pods";

int create_pod(const node& at, const std::string& name, const std::string& more) {
  return http_client{at.where()}
      .request("POST", pods,
               R"({"metadata":{"name":")" + name +
                   R"("},"spec":{"terminationGracePeriodSeconds":1,"containers":[{"name":"c",)"
                   R"("image":"x","command":["sleep","300"])" +
                   more + "}]}}",
               {{"content-type", "application/json"}})
      .status;
}

bool is_ready(http_client& client, const std::string& name) {
  return client.get(pods + "/" + name).body.find(R"("ready":true)") != std::string::npos;
}

void end_pod(const node& at, const std::string& name) {
  http_client client{at.where()};
  client.request("DELETE", pods + "/" + name + "?gracePeriodSeconds=0");
  CHECK(wait_until([&] { return client.get(pods + "/" + name).status == 404; }));
}

bool serves(const node& of) {
  try {
    return http_client{of.where()}.get("/api/v1/nodes").status == 200;
  } catch (const std::runtime_error&) {  // no connection
    return false;
  }
}

int lines_of(const fs::path& file) {
  std::ifstream in{file};
  int count = 0;
  for (std::string line; std::getline(in, line);)
    ++count;
  return count;
}

}  // namespace

TEST_CASE("a node without its minimum of resources reports the needed ones, and ends") {
  const scratch_folder folder;
  const auto data = folder.path() / "data";
  SECTION("threads, by a control group") {
    const auto group = control_group::make("pids");
    if (!group) return;
    for (const auto* most : {"8", "16", "24"}) {
      group->limit(most);
      const auto ran = start_refused(data, group->prefix());
      CHECK(ran.code == 1);
      CHECK_THAT(ran.output, Contains("troupe: a node needs") && Contains("threads") &&
                                 Contains("pids.max of control group") &&
                                 Contains(std::string{" is "} + most));
      CHECK_THAT(ran.output, !Contains("terminate"));
    }
    group->limit("max");
  }
  SECTION("room for their stacks") {
    const auto ran = start_refused(data, "prlimit --as=200000000 ");
    CHECK(ran.code == 1);
    CHECK_THAT(ran.output, Contains("troupe: a node needs") && Contains("RLIMIT_AS"));
  }
  SECTION("descriptors") {
    const auto ran = start_refused(data, "prlimit --nofile=64:64 ");
    CHECK(ran.code == 1);
    CHECK_THAT(ran.output,
               Contains("troupe: a node needs 128 file descriptors") && Contains("may have 64"));
  }
  CHECK_FALSE(fs::exists(data));
}

TEST_CASE(
    "a node at its limit of threads and processes continues, and completes pending work later") {
  const auto group = control_group::make("pids");
  if (!group) return;
  group->limit("max");
  const scratch_folder folder;
  {
    const node here{folder.path() / "data", {"--log-level", "warning"}, group->wrapper()};
    http_client client{here.where()};
    REQUIRE(create_pod(here, "before", "") == 201);
    REQUIRE(wait_until([&] { return is_ready(client, "before"); }));
    // From none to some of the threads that probe containers.
    for (const int more : {0, 3, 9}) {
      const auto name = "pod" + std::to_string(more);
      group->limit(std::to_string(group->current() + more));
      REQUIRE(create_pod(here, name,
                         R"(,"readinessProbe":{"exec":{"command":["true"]},"periodSeconds":1})") ==
              201);
      std::string said;
      REQUIRE(wait_until([&] {
        said =
            client
                .get("/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=" + name)
                .body;
        return said.find("Failed") != said.npos || said.find("Unhealthy") != said.npos ||
               is_ready(client, name);
      }));
      INFO(said);
      group->limit("max");
      CHECK(wait_until([&] { return is_ready(client, name); }, 120s));
      CHECK(is_ready(client, "before"));
      end_pod(here, name);
    }
    end_pod(here, "before");
  }
  CHECK(wait_until([&] { return group->current() == 0; }));
}

TEST_CASE(
    "a node without file descriptors serves open connections, keeps its containers, and logs it") {
  const scratch_folder folder;
  const auto data = folder.path() / "data";
  const node here{data, {"--log-level", "warning"}};
  http_client client{here.where()};
  REQUIRE(create_pod(here, "before", "") == 201);
  REQUIRE(wait_until([&] { return is_ready(client, "before"); }));
  const auto id = client.get(pods + "/before").body;
  rlimit before{};
  REQUIRE(::prlimit(here.id(), RLIMIT_NOFILE, nullptr, &before) == 0);
  int highest = 0;
  for (const auto& each : fs::directory_iterator{"/proc/" + std::to_string(here.id()) + "/fd"})
    highest = std::max(highest, std::stoi(each.path().filename()));
  const rlimit few{static_cast<rlim_t>(highest + 1), before.rlim_max};
  REQUIRE(::prlimit(here.id(), RLIMIT_NOFILE, &few, nullptr) == 0);

  const auto cpu = [&] {
    std::ifstream file{"/proc/" + std::to_string(here.id()) + "/stat"};
    std::string word;
    long ticks = 0;
    for (int i = 1; file >> word && i <= 15; ++i)
      if (i == 14 || i == 15) ticks += std::stol(word);
    return ticks;
  };
  // What a hundred requests cost on this machine.
  const auto idle = cpu();
  for (int i = 0; i < 100; ++i)
    CHECK(client.get("/api/v1/nodes").status == 200);
  const auto usual = cpu() - idle;
  auto plain = here.where();
  plain.tls = false;
  std::vector<std::unique_ptr<wire>> strangers;
  for (int i = 0; i < highest + 50; ++i)  // lower numbers are free
    strangers.push_back(std::make_unique<wire>(plain));
  const auto log_before = lines_of(data.string() + ".log");
  const auto cpu_before = cpu();
  // Existing connections keep working, for any length of time.
  const auto end = std::chrono::steady_clock::now() + 3s;
  int gets = 0;
  CHECK(wait_until([&] {
    CHECK(client.get("/api/v1/nodes").status == 200);
    ++gets;
    return std::chrono::steady_clock::now() > end;
  }));
  CHECK(cpu() - cpu_before < 150 + usual * gets / 100);  // hundredths of a second
  CHECK(lines_of(data.string() + ".log") - log_before < 20);
  CHECK(wait_until([&] {
    return read_file(data.string() + ".log").find("no connections are accepted for now") !=
           std::string::npos;
  }));
  strangers.clear();
  REQUIRE(::prlimit(here.id(), RLIMIT_NOFILE, &before, nullptr) == 0);
  CHECK(wait_until([&] { return create_pod(here, "after", "") == 201; }));
  CHECK(wait_until([&] { return is_ready(client, "after"); }));
  // The same run of the same container.
  CHECK(client.get(pods + "/before").body == id);
  end_pod(here, "before");
  end_pod(here, "after");
}

TEST_CASE("a node without memory fails requests, or ends in words, and loses nothing") {
  if (!memory_is_the_programs()) return;  // sanitizers reserve all address space
  const scratch_folder folder;
  const auto data = folder.path() / "data";
  const std::vector<std::string> flags{"--runtime", "simulated", "--log-level", "error"};
  std::set<std::string> acknowledged;
  for (const rlim_t more : {4, 60}) {
    node here{data, flags};
    std::size_t pages = 0;
    std::ifstream{"/proc/" + std::to_string(here.id()) + "/statm"} >> pages;
    const rlim_t now = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
    const rlimit little{now + (more << 20), RLIM_INFINITY};
    REQUIRE(::prlimit(here.id(), RLIMIT_AS, &little, nullptr) == 0);
    for (int i = 0; i < 100; ++i) {
      const auto name = "m" + std::to_string(more) + "-" + std::to_string(i);
      try {
        auto where = here.where();
        where.timeout = 10s;
        http_client client{where};
        const auto answer =
            client.request("POST", "/api/v1/namespaces/default/configmaps",
                           R"({"metadata":{"name":")" + name + R"("},"data":{"k":")" +
                               std::string(900'000, 'x') + R"("}})",
                           {{"content-type", "application/json"}});
        if (answer.status == 201) acknowledged.insert(name);
      } catch (const std::runtime_error&) {  // no connection
      }
    }
    const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
    ::prlimit(here.id(), RLIMIT_AS, &all, nullptr);
    if (serves(here)) continue;
    CHECK(here.wait(60s) == 1);
    CHECK_THAT(read_file(data.string() + ".log"), Contains("troupe: out of memory; the program"));
  }
  const node next{data, flags};
  http_client client{next.where()};
  for (const auto& name : acknowledged)
    CHECK(client.get("/api/v1/namespaces/default/configmaps/" + name).status == 200);
}

// Two hundred machines of one cluster, simulated by as many processes on one machine.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "build_paths.hpp"
#include "system/network/joined_cluster.hpp"
#include "system/node.hpp"

using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

constexpr unsigned count = 200;
constexpr int pods = 2'000;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// CPU time from the process's file in /proc.
double jiffies(pid_t id) {
  const auto text = read_file("/proc/" + std::to_string(id) + "/stat");
  std::istringstream words{text.substr(text.rfind(')') + 1)};
  std::string word;
  for (int i = 0; i < 11; ++i)
    words >> word;
  double user = 0, system = 0;
  words >> user >> system;
  return user + system;
}

}  // namespace

TEST_CASE("two hundred joined nodes run two thousand pods", "[network][many][.long]") {
  if (!network_space::possible()) return;
  joined_cluster cluster{0, {{"--log-level", "warning"}, {}}};
  const auto& control = cluster.control();
  const auto alone_kb = resident_kb(control.id());
  auto words = control.space().wrapper();
  words.push_back(TROUPE_BINARY_DIR "/troupe");
  const auto line = cluster.token_line();
  words.insert(words.end(), line.begin(), line.end());
  words.insert(words.end(), {"--runtime", "simulated", "--log-level", "error"});
  words.insert(words.end(), {"--worker-threads", "1"});

  auto begin = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<process>> nodes;
  for (unsigned i = 0; i < count; ++i) {
    const auto name = "n" + std::to_string(i);
    auto command = words;
    command.insert(command.end(), {"--node-name", name, "--data-dir", cluster.folder() / name});
    nodes.push_back(std::make_unique<process>(command, cluster.folder() / "nodes.log"));
  }
  REQUIRE(soon(180s, [&] {
    return cluster.nodes().size() == count + 1 && cluster.what_is_missing().empty();
  }));
  std::cout << "many: " << count << " nodes ready after " << seconds_since(begin) << " s"
            << std::endl;

  begin = std::chrono::steady_clock::now();
  cluster.run_web(pods);
  const auto all_run = [&] {
    const auto all = cluster.pods();
    return all.size() == pods && std::all_of(all.begin(), all.end(), [](const auto& each) {
             return each.status().phase() == "Running";
           });
  };
  CHECK(soon(120s, all_run));
  std::cout << "many: " << pods << " pods over them running after " << seconds_since(begin) << " s"
            << std::endl;

  std::size_t sum_kb = 0;
  for (const auto& each : nodes)
    sum_kb += resident_kb(each->id());
  const auto before = jiffies(control.id());
  begin = std::chrono::steady_clock::now();
  CHECK(soon(21s, [&] { return seconds_since(begin) >= 20; }));
  const auto busy = (jiffies(control.id()) - before) / seconds_since(begin);
  std::cout << "many: control plane " << alone_kb / 1024 << " MB alone, "
            << resident_kb(control.id()) / 1024 << " MB with them, idle at " << busy
            << " % of a core; a node " << sum_kb / count / 1024 << " MB" << std::endl;
  CHECK(busy < 25);
  for (const auto& each : nodes)
    each->signal(SIGTERM);
}

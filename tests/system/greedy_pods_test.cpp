// Pods that use all the resources they can get: the node, other pods and the API keep working.
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <mutex>

#include "support/http_client.hpp"
#include "support/scratch_folder.hpp"
#include "system/control_group.hpp"
#include "system/node.hpp"

namespace fs = std::filesystem;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

const std::string pods = "/api/v1/namespaces/default/pods";
constexpr int pids_limit = 64;
constexpr std::uintmax_t log_limit = 60u
                                     << 20;  // of a container: five files of 10 MiB, one to come

bool wait_until(const std::function<bool()>& done, std::chrono::seconds limit = 60s) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock guard{mutex};
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    never.wait_for(guard, 50ms);
  }
  return true;
}

void create_pod(http_client& client, const std::string& name, const std::string& script,
                const std::string& more = {}) {
  const auto made = client.request(
      "POST", pods,
      R"({"metadata":{"name":")" + name +
          R"("},"spec":{"terminationGracePeriodSeconds":1,"containers":[{"name":"c","image":"x",)"
          R"("command":["sh","-c",")" +
          script + "\"]" + more + "}]}}",
      {{"content-type", "application/json"}});
  INFO(made.body);
  REQUIRE(made.status == 201);
}

std::string uid_of(http_client& client, const std::string& name) {
  const auto body = client.get(pods + "/" + name).body;
  const auto at = body.find("\"uid\":\"");
  REQUIRE(at != std::string::npos);
  return body.substr(at + 7, 36);
}

bool is_ready(http_client& client, const std::string& name) {
  return client.get(pods + "/" + name).body.find(R"("ready":true)") != std::string::npos;
}

// The control group that counts the processes of a pod; empty while there is none.
fs::path group_of(const std::string& uid) {
  for (const fs::path root : {"/sys/fs/cgroup/pids", "/sys/fs/cgroup"}) {
    std::error_code problem;
    for (fs::recursive_directory_iterator at{root, problem}, end; !problem && at != end;
         at.increment(problem))
      if (at->path().filename().string().find(uid) != std::string::npos &&
          fs::exists(at->path() / "pids.max"))
        return at->path();
  }
  return {};
}

int number_in(const fs::path& file) {
  int number = 0;
  std::ifstream{file} >> number;
  return number;
}

std::uintmax_t bytes_below(const fs::path& folder, const std::string& part) {
  std::uintmax_t sum = 0;
  std::error_code problem;
  for (fs::recursive_directory_iterator at{folder, problem}, end; !problem && at != end;
       at.increment(problem)) {
    std::error_code gone;
    const auto size = at->is_regular_file(gone) ? at->file_size(gone) : 0;
    if (!gone && at->path().string().find(part) != std::string::npos) sum += size;
  }
  return sum;
}

}  // namespace

TEST_CASE("a fork bomb and a flood of the log leave the node, other pods and the API as they are") {
  if (!control_group::make("pids")) return;
  const scratch_folder folder;
  const auto data = folder.path() / "data";
  const node here{
      data, {"--log-level", "warning", "--kubelet-pod-pids-limit", std::to_string(pids_limit)}};
  http_client client{here.where()};
  const std::string probe =
      R"(,"readinessProbe":{"exec":{"command":["true"]},"periodSeconds":1,"timeoutSeconds":10})";
  create_pod(client, "bystander", "sleep 300", probe);
  REQUIRE(wait_until([&] { return is_ready(client, "bystander"); }));
  const auto get = [&] {
    const auto began = std::chrono::steady_clock::now();
    CHECK(client.get("/api/v1/nodes").status == 200);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  double usual = 0;
  for (int i = 0; i < 20; ++i)
    usual = std::max(usual, get());
  create_pod(client, "bomb", "bomb() { bomb | bomb & }; while :; do bomb; sleep 0.1; done");
  create_pod(client, "flood", "while :; do echo flood flood flood flood flood flood; done");

  const auto uid = uid_of(client, "bomb"), flood = uid_of(client, "flood");
  REQUIRE(wait_until([&] { return number_in(group_of(uid) / "pids.current") > pids_limit / 2; }));
  REQUIRE(wait_until([&] { return bytes_below(data, flood) > 1u << 20; }));
  int most = 0;
  double slowest = 0;
  const auto until = std::chrono::steady_clock::now() + 8s;
  CHECK(wait_until([&] {
    most = std::max(most, number_in(group_of(uid) / "pids.current"));
    slowest = std::max(slowest, get());
    return std::chrono::steady_clock::now() > until;
  }));
  std::cout << "greedy pods: " << most << " processes, slowest get " << slowest * 1e3 << " ms, log "
            << (bytes_below(data, flood) >> 20) << " MiB" << std::endl;
  CHECK(most <= pids_limit);
  CHECK(slowest < std::max(2.0, 100 * usual));
  CHECK(bytes_below(data, flood) < log_limit);
  CHECK(is_ready(client, "bystander"));
  create_pod(client, "later", "sleep 300", probe);
  CHECK(wait_until([&] { return is_ready(client, "later"); }, 120s));
  for (const auto* name : {"bomb", "flood", "bystander", "later"})
    client.request("DELETE", pods + "/" + name + "?gracePeriodSeconds=0");
  CHECK(
      wait_until([&] { return client.get(pods).body.find("\"uid\"") == std::string::npos; }, 60s));
  CHECK(wait_until([&] { return group_of(uid).empty(); }));
}

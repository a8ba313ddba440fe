// A node under churn for TROUPE_SOAK_SECONDS (default one hour): deployments, pods and config
// maps are created and deleted, watches are cut and resumed. The node's resource usage
// (memory, threads, descriptors, its store) is printed every 30 s, and must not grow from the
// second quarter of the time to the last by more than 5 %. Less time is too short to tell: the
// store's write-ahead log grows for seven minutes before its file is replaced.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "support/http_client.hpp"
#include "support/scratch_folder.hpp"
#include "system/node.hpp"

namespace fs = std::filesystem;
using namespace troupe::test;
using namespace std::chrono_literals;

namespace {

using clock = std::chrono::steady_clock;

constexpr int kept = 5;  // of each kind at a time
constexpr std::size_t watchers = 20;
constexpr auto cycle_time = 500ms;
constexpr double growth_limit = 1.05;
const http_client::fields json{{"content-type", "application/json"}};
const std::string maps = "/api/v1/namespaces/default/configmaps";
const std::string pods = "/api/v1/namespaces/default/pods";
const std::string deployments = "/apis/apps/v1/namespaces/default/deployments";
const std::string watched[] = {maps, pods, deployments, "/apis/apps/v1/replicasets",
                               "/api/v1/events"};

// Bounded data (history, events) reaches its bound after a minute of churn.
const std::vector<std::string> flags{"--runtime",
                                     "simulated",
                                     "--simulated-nodes",
                                     "3",
                                     "--store-history-revisions",
                                     "1000",
                                     "--store-history-time",
                                     "10s",
                                     "--store-history-bytes",
                                     "4Mi",
                                     "--store-max-events",
                                     "200",
                                     "--log-level",
                                     "warn"};

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator{folder}, fs::directory_iterator{}));
}

// Without the reserve file, whose size depends on the disk.
std::size_t store_kb(const fs::path& data) {
  std::uintmax_t sum = 0;
  std::error_code gone;
  for (const auto& each : fs::directory_iterator{data / "store", gone})
    if (each.path().filename() != "RESERVE")
      if (const auto size = each.file_size(gone); !gone) sum += size;
  return sum / 1024;
}

struct sample {
  static constexpr std::size_t measures = 4;
  static constexpr const char* names[measures] = {"KB resident", "KB of store", "threads",
                                                  "descriptors"};
  double of[measures];

  static sample take(const node& of_node, const fs::path& data) {
    const auto proc = fs::path{"/proc"} / std::to_string(of_node.id());
    return {{static_cast<double>(resident_kb(of_node.id())), static_cast<double>(store_kb(data)),
             static_cast<double>(entries(proc / "task")),
             static_cast<double>(entries(proc / "fd"))}};
  }
};

class churn {
 public:
  explicit churn(const node& on) : on_{on}, client_{on.where()} {
    for (std::size_t i = 0; i < watchers; ++i)
      watches_.push_back(nullptr);
  }

  // Creates and changes one of each kind, and deletes the oldest; cuts and resumes one watch.
  void step() {
    const auto name = "n" + std::to_string(count_);
    expect("POST", maps, R"({"metadata":{"name":")" + name + R"("},"data":{"k":"1"}})", 201);
    expect("POST", pods, R"({"metadata":{"name":")" + name + "\"}," + spec(), 201);
    expect("POST", deployments,
           R"({"metadata":{"name":")" + name +
               R"("},"spec":{"replicas":3,"selector":{"matchLabels":{"app":")" + name +
               R"("}},"template":{"metadata":{"labels":{"app":")" + name + R"("}},)" + spec() +
               "}}",
           201);
    expect("PUT", maps + "/" + name, R"({"metadata":{"name":")" + name + R"("},"data":{"k":"2"}})",
           200);
    if (count_ >= kept) {
      const auto old = "/n" + std::to_string(count_ - kept);
      for (const auto& each : {maps, pods, deployments})
        expect("DELETE", each + old, {}, 200);
    }
    resume(count_ % watchers);
    for (auto& each : watches_)
      drain(each);
    ++count_;
  }

  std::size_t count() const noexcept { return count_; }
  std::size_t heard() const noexcept { return heard_; }

 private:
  static std::string spec() {
    return R"("spec":{"terminationGracePeriodSeconds":0,"containers":[{"name":"c","image":"i"}]}})";
  }

  void expect(const std::string& method, const std::string& path, const std::string& body,
              int status) {
    const auto answer = client_.request(method, path, body, json);
    INFO(method << " " << path << ": " << answer.body);
    REQUIRE(answer.status == status);
  }

  // From the current revision; every third one from a revision that may be compacted.
  void resume(std::size_t number) {
    const auto& path = watched[number % std::size(watched)];
    std::string from = "1";
    if (number % 3 != 0) {
      const auto list = client_.get(path + "?limit=1").body;
      const auto at = list.find(R"("resourceVersion":")") + 19;
      from = list.substr(at, list.find('"', at) - at);
    }
    watches_[number] = std::make_unique<http_client>(on_.where());
    watches_[number]->send_request(
        "GET", path + "?watch=true&allowWatchBookmarks=true&resourceVersion=" + from);
    REQUIRE(watches_[number]->receive_head().status == 200);
  }

  void drain(std::unique_ptr<http_client>& from) {
    while (from && from->connection().has_input()) {
      if (from->next_chunk())
        ++heard_;
      else
        from.reset();
    }
  }

  const node& on_;
  http_client client_;
  std::vector<std::unique_ptr<http_client>> watches_;
  std::size_t count_ = 0, heard_ = 0;
};

double mean(const std::vector<sample>& all, std::size_t from, std::size_t to, std::size_t measure) {
  double sum = 0;
  for (auto i = from; i < to; ++i)
    sum += all[i].of[measure];
  return sum / static_cast<double>(to - from);
}

}  // namespace

TEST_CASE("the resource usage of a node does not grow under churn", "[.long][soak]") {
  const char* wanted = std::getenv("TROUPE_SOAK_SECONDS");
  const std::chrono::seconds time{wanted == nullptr ? 3'600 : std::atoi(wanted)};
  const auto period = std::min<clock::duration>(30s, time / 20);
  const scratch_folder folder;
  const auto data = folder.path() / "data";
  const node on{data, flags};
  churn load{on};
  std::vector<sample> samples;
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock guard{mutex};
  const auto begin = clock::now();
  auto next_step = begin, next_sample = begin + period;
  while (clock::now() < begin + time) {
    load.step();
    if (clock::now() >= next_sample) {
      samples.push_back(sample::take(on, data));
      next_sample += period;
      std::string line;
      for (std::size_t i = 0; i < sample::measures; ++i)
        line += fmt::format(" {:.0f} {}{}", samples.back().of[i], sample::names[i],
                            i + 1 < sample::measures ? "," : "");
      std::cout
          << fmt::format(
                 "soak: {} s, {} cycles, {} events:{}",
                 std::chrono::duration_cast<std::chrono::seconds>(clock::now() - begin).count(),
                 load.count(), load.heard(), line)
          << std::endl;
    }
    next_step = std::max(next_step + cycle_time, clock::now());
    never.wait_until(guard, next_step);
  }
  const auto quarter = samples.size() / 4;
  REQUIRE(quarter > 2);
  CHECK(load.heard() > load.count());
  for (std::size_t i = 0; i < sample::measures; ++i) {
    const auto before = mean(samples, quarter, 2 * quarter, i);
    const auto after = mean(samples, 3 * quarter, samples.size(), i);
    std::cout << fmt::format("soak: {}: {:.0f}, then {:.0f}\n", sample::names[i], before, after);
    INFO(sample::names[i]);
    CHECK(after <= before * growth_limit);
  }
}

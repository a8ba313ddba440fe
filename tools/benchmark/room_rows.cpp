#include <fmt/format.h>
#include <unistd.h>

#include <fstream>

#include "actors/scheduler/algorithm.hpp"
#include "actors/scheduler/builders.hpp"
#include "actors/scheduler/profile.hpp"
#include "api/codec/codec.hpp"
#include "benchmark/rows.hpp"
#include "benchmark/support.hpp"
#include "runtime/actor_system.hpp"
#include "support/cpu_time.hpp"
#include "support/fleet.hpp"
#include "support/typical_pod.hpp"

namespace troupe::bench {
namespace {

// Measures this thread's processor time over half a second.
template <class Work>
double megabytes_per_second(std::size_t size_bytes, const Work& work) {
  for (int i = 0; i < 200; ++i)
    work();
  const double start = test::cpu_seconds();
  int rounds = 0;
  double took = 0;
  for (; took < 0.5; took = test::cpu_seconds() - start, rounds += 100)
    for (int i = 0; i < 100; ++i)
      work();
  return double(size_bytes) * rounds / took / 1e6;
}

void measure_codec(results& out) {
  const auto& kind = api::kind_of<api::core::v1::Pod>();
  const auto pod = api::decode(test::typical_pod, api::media::json, &kind);
  if (!pod) die(pod.error().message);
  const auto json = api::encode_json(*pod->content, "v1", "Pod");
  api::decode_options strict;
  strict.fields = api::field_validation::strict;
  const auto decode = megabytes_per_second(json.size(), [&] {
    if (!api::decode(json, api::media::json, &kind, strict)) die("the pod is refused");
  });
  const auto encode = megabytes_per_second(json.size(), [&] {
    if (api::encode_json(*pod->content, "v1", "Pod").size() != json.size()) die("wrong size");
  });
  out.add("JSON decode of a 3 KB Pod, strict, one core", decode, "MB/s", at_least(150));
  out.add("JSON encode of a 3 KB Pod, one core", encode, "MB/s", at_least(150));
}

void measure_scheduler(results& out) {
  namespace sched = actors::scheduler;
  constexpr int nodes = 5'000, count = 10'000;
  const auto with = *sched::profile::make(*sched::built_in_profile("today"));
  const auto pods_a_second = [&](const auto& make) {
    sched::algorithm how{*with};
    sched::cluster_view view;
    std::mt19937_64 random{909};
    for (int i = 0; i < nodes; ++i)
      view.put_node(sched::make_node(fmt::format("n{}", i), "{}", "{}", "4", "32Gi"));
    std::vector<sched::pod_info_ptr> pods;
    for (int i = 0; i < count; ++i)
      pods.push_back(make(i));
    const auto start = clock::now();
    for (const auto& pod : pods)
      view.assume(pod, *how.schedule(pod, view, random));
    return count / seconds_since(start);
  };
  out.add("the scheduler alone, 5,000 nodes, 10,000 pods", pods_a_second([](int i) {
            return sched::make_request(fmt::format("p{}", i), "500m", "500Mi");
          }),
          "pods/s", at_least(15'000));
  out.add("… pods of 10 ReplicaSets, which are spread", pods_a_second([](int i) {
            return sched::make_replica(fmt::format("p{}", i), fmt::format("rs{}", i % 10));
          }),
          "pods/s", at_least(15'000));
}

std::size_t resident_bytes() {
  std::size_t pages = 0;
  std::ifstream{"/proc/self/statm"} >> pages >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

struct idle : runtime::actor {
  const runtime::behavior& make_behavior() const override {
    static const auto table = runtime::handlers();
    return table;
  }
};

void measure_actors(results& out) {
  constexpr int count = 100'000;
  runtime::actor_system system;
  std::vector<runtime::actor_ref> all;
  all.reserve(count);
  const auto before = resident_bytes();
  for (int i = 0; i < count; ++i)
    all.push_back(system.spawn({"idle", fmt::format("default/web-{}", i)}, runtime::make<idle>()));
  out.add("an idle actor", double(resident_bytes() - before) / count, "bytes");
}

void measure_neighbours(results& out) {
  const scratch place;
  const auto ratio = test::delay_beside_a_stalled_controller(place.path(), 31);
  out.add("1,000 RCs scaled up beside one that is stalled: longer than without it by",
          (ratio - 1) * 100, "%", at_most(5));
}

}  // namespace

void measure_rooms(results& out, const bench_options&) {
  measure_actors(out);  // first, because it measures the memory of this process
  measure_codec(out);
  measure_scheduler(out);
  measure_neighbours(out);
}

}  // namespace troupe::bench

// Creates and reads over etcd, compared with a bare client that does the same in the same etcd, and
// with a node with an embedded store.
#include <fmt/format.h>

#include <vector>

#include "benchmark/etcd_client.hpp"
#include "benchmark/map_load.hpp"
#include "benchmark/node.hpp"
#include "benchmark/rows.hpp"
#include "etcd/etcd_server.hpp"

namespace troupe::bench {
namespace {

constexpr std::chrono::seconds load_time{1};
constexpr int rounds = 7;

load_options short_load(const node& n) {
  auto load = n.load();
  load.duration = load_time;
  return load;
}

load_options gets(const node& n, const std::string& query) {
  auto load = short_load(n);
  load.connections = 1;
  load.next = [query](std::uint64_t i) {
    return load_request{"GET", fmt::format("{}/one0-{}{}", maps_path, i % 100, query), {}, {}};
  };
  return load;
}

// Alternates the two sides, because the speed of etcd's disk varies.
struct comparison {
  std::vector<double> base, made, ratios;

  void add(double of_base, double of_made) {
    base.push_back(of_base);
    made.push_back(of_made);
    ratios.push_back(of_made / of_base);
  }
};

double median(const std::vector<double>& of) {
  return percentile(of, 50);
}

void measure_creates(results& out, etcd_client& bare, const node& n) {
  comparison one;
  for (int round = 0; round < rounds; ++round) {
    const auto bare_one = bare.create(1, load_time);
    const auto load = map_creates(short_load(n), fmt::format("one{}-", round), 1, 1);
    one.add(bare_one.p50_us, must_run(load).percentile(50));
  }
  out.add("etcd: HTTP create, 1 connection, p50", median(one.made), "us");
  out.add("… of a bare client", median(one.base), "us");
  out.add("… ratio", median(one.ratios), "x", at_most(1.4));
  for (const std::size_t outstanding : {32, 256}) {
    comparison rate;
    std::vector<double> processor_us;
    for (int round = 0; round < rounds; ++round) {
      const auto limit = bare.create(outstanding, load_time);
      const auto load = map_creates(short_load(n), fmt::format("m{}-{}-", outstanding, round),
                                    outstanding / 8, 8);
      const auto before = n.processor_s();
      const auto made = must_run(load);
      rate.add(limit.per_second, made.per_second());
      processor_us.push_back((n.processor_s() - before) * 1e6 / static_cast<double>(made.answers));
    }
    out.add(fmt::format("etcd: HTTP creates, {} outstanding", outstanding), median(rate.made),
            "/s");
    out.add("… of a bare client", median(rate.base), "/s");
    out.add("… ratio", median(rate.ratios), "x", at_least(0.75));
    out.add("… processor time of the control plane for each", median(processor_us), "us");
  }
}

// Reads the maps that measure_creates has made first.
void measure_reads(results& out, etcd_client& bare, const node& n, const std::string& program) {
  const scratch place;
  const node embedded{program, place.path(), 1};
  auto same = map_creates(embedded.load(), "one0-", 1, 1);
  same.requests = 100;
  must_run(same);
  comparison newest, known;
  for (int round = 0; round < rounds; ++round) {
    const auto bare_read = bare.read(load_time);
    newest.add(bare_read.p50_us, must_run(gets(n, {})).percentile(50));
    const auto of_embedded = must_run(gets(embedded, "?resourceVersion=0")).percentile(50);
    known.add(of_embedded, must_run(gets(n, "?resourceVersion=0")).percentile(50));
  }
  out.add("etcd: get without resourceVersion, p50", median(newest.made), "us");
  out.add("… a bare linearizable read", median(newest.base), "us");
  out.add("… ratio", median(newest.ratios), "x", at_most(1.3));
  out.add("… with resourceVersion=0, p50", median(known.made), "us");
  out.add("… of an embedded store", median(known.base), "us");
  out.add("… over an embedded store", median(known.ratios), "x", at_most(1.1));
  out.add("… memory of the control plane", n.memory_mb(), "MB");
}

}  // namespace

void measure_etcd(results& out, const bench_options& options) {
  if (!test::etcd_server::missing().empty()) return;
  const test::etcd_server etcd;
  etcd_client bare{etcd.endpoint()};
  const scratch place;
  const node n{options.program,
               place.path(),
               1,
               {"--store", "etcd", "--etcd-endpoints", etcd.endpoint(),
                "--server-max-writes-in-flight", "300"}};
  measure_creates(out, bare, n);
  measure_reads(out, bare, n, options.program);
}

}  // namespace troupe::bench

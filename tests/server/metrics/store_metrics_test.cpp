// The metrics of stores that have more than those of a store of its own.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "persistence/store/audited.hpp"
#include "server/metrics/families.hpp"

namespace troupe::server::testing {
namespace {

std::unique_ptr<persistence::store> open_in_memory() {
  persistence::store_options options;
  options.threaded = false;
  return std::move(persistence::store::open(std::move(options)).value());
}

// With differences, and with the leader that the test sets.
class audited_store final : public persistence::store, public persistence::audited {
 public:
  void submit(persistence::transaction request, persistence::completion done) override {
    store_->submit(std::move(request), std::move(done));
  }
  void barrier(persistence::barrier_completion done) override { store_->barrier(std::move(done)); }
  persistence::snapshot read() const override { return store_->read(); }
  persistence::expected<persistence::snapshot> read_at(persistence::revision at) const override {
    return store_->read_at(at);
  }
  persistence::expected<persistence::snapshot> rebuild(persistence::revision at) override {
    return store_->rebuild(at);
  }
  void pin(const persistence::snapshot& state) override { store_->pin(state); }
  persistence::expected<std::vector<persistence::change>> changes(
      persistence::revision after, std::size_t limit) const override {
    return store_->changes(after, limit);
  }
  void observe(persistence::batch_observer observer, persistence::state_index index) override {
    store_->observe(std::move(observer), std::move(index));
  }
  persistence::expected<void> compact(persistence::revision up_to) override {
    return store_->compact(up_to);
  }
  persistence::store_stats stats() const override {
    auto shown = store_->stats();
    shown.leader = leader;
    shown.log_full = is_full;
    return shown;
  }
  std::string cluster_id() const override { return store_->cluster_id(); }
  std::uint64_t audit_differences() const override { return 3; }

  std::optional<persistence::leadership> leader;
  bool is_full = false;

 private:
  const std::unique_ptr<persistence::store> store_ = open_in_memory();
};

// The values of a family, of counters or of gauges; empty if there is none.
std::vector<double> values_of(const persistence::store& store, const std::string& name) {
  families all;
  add_store_metrics(all, store);
  std::vector<double> values;
  for (const auto& each : all)
    if (each.name == name)
      for (const auto& metric : each.metric)
        values.push_back(each.type == prometheus::MetricType::Counter ? metric.counter.value
                                                                      : metric.gauge.value);
  return values;
}

// "name label value" of each series about the leader.
std::vector<std::string> leader_series(const persistence::store& store) {
  families all;
  add_store_metrics(all, store);
  std::vector<std::string> lines;
  for (const auto& each : all) {
    if (each.name.find("leader") == std::string::npos) continue;
    for (const auto& metric : each.metric) {
      const bool is_counter = each.type == prometheus::MetricType::Counter;
      lines.push_back(fmt::format("{} {} {}", each.name,
                                  metric.label.empty() ? "" : metric.label.front().value,
                                  is_counter ? metric.counter.value : metric.gauge.value));
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("differences that the audit found are a metric of a store that has an audit") {
  constexpr const char* name = "troupe_store_audit_differences_total";
  CHECK(values_of(audited_store{}, name) == std::vector<double>{3});
  const auto embedded = open_in_memory();
  CHECK(values_of(*embedded, name).empty());
  CHECK(values_of(*embedded, "troupe_store_conflicts_total").size() == 1);
}

TEST_CASE("metrics tell who leads, since when, and how earlier terms ended") {
  audited_store store;
  CHECK(leader_series(store).empty());
  auto& leader = store.leader.emplace();
  leader.node = "two";
  leader.term = 9;
  leader.since = std::chrono::system_clock::time_point{std::chrono::seconds{1'500}};
  leader.changes = 4;
  leader.ends = {.resigned = 1, .expired = 2};
  CHECK(leader_series(store) ==
        std::vector<std::string>{"leader_election_master_status troupe 0",
                                 "troupe_leader_changes_total  4",
                                 "troupe_leader_since_seconds  1500", "troupe_leader_info two 1",
                                 "troupe_leader_terms_ended_total resigned 1",
                                 "troupe_leader_terms_ended_total lease-expired 2",
                                 "troupe_leader_terms_ended_total unseen 0"});
  leader.term = 0;
  const auto without = leader_series(store);
  CHECK(std::none_of(without.begin(), without.end(), [](const auto& each) {
    return each.find("troupe_leader_info") != std::string::npos;
  }));
}

TEST_CASE("a full log is a metric of a store that shares one") {
  constexpr const char* name = "troupe_store_log_full";
  audited_store store;
  CHECK(values_of(store, name).empty());
  store.leader.emplace();
  CHECK(values_of(store, name) == std::vector<double>{0});
  store.is_full = true;
  CHECK(values_of(store, name) == std::vector<double>{1});
}

}  // namespace troupe::server::testing

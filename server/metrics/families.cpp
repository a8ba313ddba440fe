#include "server/metrics/families.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace troupe::server {

using prometheus::ClientMetric;
using prometheus::MetricType;

namespace {

prometheus::MetricFamily& appended(families& out, std::string name, std::string help,
                                   MetricType type) {
  out.push_back({std::move(name), std::move(help), type, {}});
  return out.back();
}

}  // namespace

family::family(families& out, std::string name, std::string help, MetricType type)
    : to_{appended(out, std::move(name), std::move(help), type)} {}

ClientMetric& family::add(const labels& with) {
  auto& made = to_.metric.emplace_back();
  for (const auto& [name, value] : with)
    made.label.push_back({name, value});
  return made;
}

family& family::counter(double value, const labels& with) {
  add(with).counter.value = value;
  return *this;
}

family& family::gauge(double value, const labels& with) {
  add(with).gauge.value = value;
  return *this;
}

family& family::histogram(const double* bounds, const std::uint64_t* counts, std::size_t size,
                          double sum, const labels& with) {
  auto& made = add(with).histogram;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < size; ++i) {
    all += counts[i];
    made.bucket.push_back({all, bounds[i]});
  }
  all += counts[size];
  made.bucket.push_back({all, std::numeric_limits<double>::infinity()});
  made.sample_count = all;
  made.sample_sum = sum;
  return *this;
}

family& family::histogram(const actors::counted_times& times, const labels& with) {
  std::array<std::uint64_t, actors::counted_times::bounds.size() + 1> counts{};
  for (std::size_t i = 0; i < counts.size(); ++i)
    counts[i] = times.counts[i].load();
  return histogram(times.bounds.data(), counts.data(), times.bounds.size(),
                   static_cast<double>(times.sum_ns.load()) / 1e9, with);
}

family& family::summary(std::uint64_t count,
                        const std::vector<std::pair<double, double>>& quantiles,
                        const labels& with) {
  auto& made = add(with).summary;
  made.sample_count = count;
  made.sample_sum = std::nan("");  // only the percentiles of the latest syncs are kept
  for (const auto& [quantile, value] : quantiles)
    made.quantile.push_back({quantile, value});
  return *this;
}

void add_counter(families& out, std::string name, std::string help, double value) {
  family{out, std::move(name), std::move(help), MetricType::Counter}.counter(value);
}

void add_gauge(families& out, std::string name, std::string help, double value) {
  family{out, std::move(name), std::move(help), MetricType::Gauge}.gauge(value);
}

}  // namespace troupe::server

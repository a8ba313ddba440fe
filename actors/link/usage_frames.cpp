#include "actors/link/usage_frames.hpp"

#include <algorithm>

#include "actors/link/defaults.hpp"
#include "api/values/utf8.hpp"

namespace troupe::actors {

namespace {

void write_figure(wire::ContainerUsage& out, const usage_figure& figure) {
  out.set_cpu_nano(figure.cpu_nano);
  out.set_memory_bytes(figure.memory_bytes);
  out.set_window_ns(static_cast<std::uint64_t>(figure.window.count()));
}

usage_figure read_figure(const wire::ContainerUsage& from) {
  constexpr auto longest = static_cast<std::uint64_t>(
      std::chrono::nanoseconds{link_defaults::usage_longest_time}.count());
  return {std::min(from.cpu_nano(), link_defaults::usage_most_cpu_nano),
          std::min(from.memory_bytes(), link_defaults::usage_most_memory_bytes),
          std::chrono::nanoseconds{static_cast<std::int64_t>(std::min(from.window_ns(), longest))}};
}

std::string short_line(const std::string& text) {
  auto line = text.substr(0, api::utf8_prefix(text, link_defaults::reason_limit_bytes));
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return line;
}

}  // namespace

void write_usage_answer(wire::UsageAnswer& out, std::uint64_t ask, const node_usage& usage) {
  out.set_ask(ask);
  out.set_problem(usage.problem);
  out.set_ago_ms(static_cast<std::uint64_t>(usage.age.count()));
  if (usage.machine) write_figure(*out.mutable_machine(), *usage.machine);
  for (const auto& each : usage.containers) {
    auto& container = *out.add_containers();
    container.set_pod_uid(each.pod_uid);
    container.set_container(each.container);
    write_figure(container, each.figure);
  }
}

node_usage read_usage_answer(const wire::UsageAnswer& from) {
  using namespace std::chrono;
  constexpr auto longest = static_cast<std::uint64_t>(
      duration_cast<milliseconds>(link_defaults::usage_longest_time).count());
  node_usage usage{.problem = short_line(from.problem())};
  usage.age = milliseconds{static_cast<std::int64_t>(std::min(from.ago_ms(), longest))};
  if (from.has_machine()) usage.machine = read_figure(from.machine());
  usage.containers.reserve(static_cast<std::size_t>(from.containers_size()));
  for (const auto& each : from.containers())
    usage.containers.push_back({each.pod_uid(), each.container(), read_figure(each)});
  return usage;
}

}  // namespace troupe::actors

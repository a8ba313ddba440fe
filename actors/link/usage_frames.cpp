#include "actors/link/usage_frames.hpp"

#include <algorithm>

#include "actors/link/defaults.hpp"
#include "api/values/utf8.hpp"

namespace troupe::actors {

namespace {

void write_figure(wire::ContainerUsage& out, const resource_usage& figure) {
  out.set_cpu_nano(figure.cpu_nano);
  out.set_memory_bytes(figure.memory_bytes);
  out.set_window_ns(static_cast<std::uint64_t>(figure.window.count()));
  out.set_cpu_ns(figure.cpu_ns);
  out.set_all_memory_bytes(figure.all_memory_bytes);
  out.set_rss_bytes(figure.rss_bytes);
}

void write_supply(wire::Supply& out, const supply& from) {
  out.set_left(static_cast<std::uint64_t>(from.left));
  out.set_all(static_cast<std::uint64_t>(from.all));
}

resource_usage read_figure(const wire::ContainerUsage& from) {
  constexpr auto longest = static_cast<std::uint64_t>(
      std::chrono::nanoseconds{link_defaults::usage_longest_time}.count());
  constexpr auto most_memory = link_defaults::usage_most_memory_bytes;
  return {std::min(from.cpu_nano(), link_defaults::usage_most_cpu_nano),
          std::min(from.memory_bytes(), most_memory),
          std::chrono::nanoseconds{static_cast<std::int64_t>(std::min(from.window_ns(), longest))},
          from.cpu_ns(),
          std::min(from.all_memory_bytes(), most_memory),
          std::min(from.rss_bytes(), most_memory)};
}

supply read_supply(const wire::Supply& from) {
  const auto all = std::min(from.all(), link_defaults::usage_most_supply);
  return {static_cast<std::int64_t>(std::min(from.left(), all)), static_cast<std::int64_t>(all)};
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
  out.set_up_ns(static_cast<std::uint64_t>(usage.up.count()));
  write_supply(*out.mutable_memory(), usage.supplies.memory);
  write_supply(*out.mutable_disk(), usage.supplies.disk);
  write_supply(*out.mutable_inodes(), usage.supplies.inodes);
  write_supply(*out.mutable_pids(), usage.supplies.pids);
  write_supply(*out.mutable_images(), usage.supplies.images);
  write_supply(*out.mutable_image_inodes(), usage.supplies.image_inodes);
  out.set_systemd_groups(usage.systemd_groups);
  for (const auto& each : usage.containers) {
    auto& container = *out.add_containers();
    container.set_pod_uid(each.pod_uid);
    container.set_container(each.container);
    write_figure(container, each.figure);
  }
  for (const auto& each : usage.networks) {
    auto& network = *out.add_networks();
    network.set_address(each.address);
    network.set_rx_bytes(each.rx_bytes);
    network.set_rx_packets(each.rx_packets);
    network.set_rx_errors(each.rx_errors);
    network.set_rx_dropped(each.rx_dropped);
    network.set_tx_bytes(each.tx_bytes);
    network.set_tx_packets(each.tx_packets);
    network.set_tx_errors(each.tx_errors);
    network.set_tx_dropped(each.tx_dropped);
  }
}

node_usage read_usage_answer(const wire::UsageAnswer& from) {
  using namespace std::chrono;
  constexpr auto longest = static_cast<std::uint64_t>(
      duration_cast<milliseconds>(link_defaults::usage_longest_time).count());
  node_usage usage{.problem = short_line(from.problem())};
  usage.age = milliseconds{static_cast<std::int64_t>(std::min(from.ago_ms(), longest))};
  if (from.has_machine()) usage.machine = read_figure(from.machine());
  constexpr auto longest_up =
      static_cast<std::uint64_t>(nanoseconds{link_defaults::usage_longest_up}.count());
  usage.up = nanoseconds{static_cast<std::int64_t>(std::min(from.up_ns(), longest_up))};
  usage.supplies = {read_supply(from.memory()), read_supply(from.disk()),
                    read_supply(from.inodes()), read_supply(from.pids()),
                    read_supply(from.images()), read_supply(from.image_inodes())};
  usage.systemd_groups = from.systemd_groups();
  usage.containers.reserve(static_cast<std::size_t>(from.containers_size()));
  for (const auto& each : from.containers())
    usage.containers.push_back({each.pod_uid(), each.container(), read_figure(each)});
  for (const auto& each : from.networks())
    usage.networks.push_back({.address = each.address(),
                              .rx_bytes = each.rx_bytes(),
                              .rx_packets = each.rx_packets(),
                              .rx_errors = each.rx_errors(),
                              .rx_dropped = each.rx_dropped(),
                              .tx_bytes = each.tx_bytes(),
                              .tx_packets = each.tx_packets(),
                              .tx_errors = each.tx_errors(),
                              .tx_dropped = each.tx_dropped()});
  return usage;
}

}  // namespace troupe::actors

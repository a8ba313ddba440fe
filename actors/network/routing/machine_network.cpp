#include "actors/network/routing/machine_network.hpp"

#include <fmt/format.h>
#include <linux/netlink.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "actors/network/defaults.hpp"
#include "actors/network/routing/cni_config.hpp"
#include "actors/network/routing/cni_folder.hpp"
#include "actors/network/routing/forward_filter.hpp"
#include "actors/network/routing/kernel_routes.hpp"
#include "actors/network/routing/tunnel_filter.hpp"

namespace troupe::actors::routing {
namespace {

// Returns the error; empty: success.
std::string set_parameter(const std::string& name, char value) {
  const auto file = "/proc/sys/net/" + name;
  std::ifstream in{file};
  if (in.get() == value) return {};
  std::ofstream out{file};
  out << value << std::flush;
  return out ? std::string{} : fmt::format("{} cannot be set to {}", file, value);
}

// A machine that forwards IPv6 ignores router advertisements, from which it may have its default
// route, unless accept_ra of the device is 2.
void go_on_taking_routes(std::vector<std::string>& problems) {
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator{"/proc/sys/net/ipv6/conf", ignored}) {
    const auto name = fmt::format("ipv6/conf/{}/accept_ra", each.path().filename().string());
    if (std::ifstream{"/proc/sys/net/" + name}.get() != '1') continue;
    auto problem = set_parameter(name, '2');
    // The device may have gone meanwhile.
    if (!problem.empty() && std::filesystem::exists("/proc/sys/net/" + name, ignored))
      problems.push_back(std::move(problem));
  }
}

// Without IPv6 in the kernel no pod could start with an address of it: the others start without.
void leave_out_ipv6(node_ranges& wanted, std::vector<std::string>& problems) {
  const auto is_enabled = [](const char* devices) {
    return std::ifstream{fmt::format("/proc/sys/net/ipv6/conf/{}/disable_ipv6", devices)}.get() ==
           '0';
  };
  if (is_enabled("all") && is_enabled("default")) return;
  const auto erased =
      std::erase_if(wanted.own, [](const api::cidr& range) { return range.is_v6(); });
  std::erase_if(wanted.peers, [](const pod_peer& peer) { return peer.range.is_v6(); });
  if (erased != 0)
    problems.emplace_back(
        "IPv6 is missing in the kernel of this machine, or disabled by net.ipv6.conf.all or "
        "default.disable_ipv6: pods have no addresses of it");
}

bool has_v6(const node_ranges& wanted) {
  return std::any_of(wanted.own.begin(), wanted.own.end(),
                     [](const api::cidr& range) { return range.is_v6(); });
}

void forward_packets(const node_ranges& wanted, std::vector<std::string>& problems) {
  if (auto problem = forward_ipv4(); !problem.empty()) problems.push_back(std::move(problem));
  constexpr const char* forwarding_v6 = "ipv6/conf/all/forwarding";
  if (!has_v6(wanted) || std::ifstream{fmt::format("/proc/sys/net/{}", forwarding_v6)}.get() == '1')
    return;
  // Otherwise the machine could lose its default route.
  const auto before = problems.size();
  go_on_taking_routes(problems);
  if (problems.size() != before) return;
  if (auto problem = set_parameter(forwarding_v6, '1'); !problem.empty())
    problems.push_back(std::move(problem));
}

// Packets and their answers may take different ways: sets the reverse path filter to loose.
void loosen_checks(const route_plan& plan, std::vector<std::string>& problems) {
  if (plan.through.peers.empty()) return;
  auto problem =
      set_parameter(fmt::format("ipv4/conf/{}/rp_filter", network_defaults::tunnel_device), '2');
  if (!problem.empty()) problems.push_back(std::move(problem));
}

// False: the tunnel would be without its rules.
bool filter_tunnel(const machine_network_options& options, const node_ranges& wanted,
                   const route_plan& plan, std::vector<std::string>& problems) {
  bool is_safe = true;
  for (const auto* family : {&services::family_v4, &services::family_v6}) {
    if (family == &services::family_v6 && !has_v6(wanted)) continue;
    const auto applied = apply_tunnel_filter(wanted, options.cluster, *family);
    if (applied) continue;
    problems.push_back(
        fmt::format("the rules of the tunnel's port, {}: {}", family->name, applied.error()));
    is_safe = is_safe && family->text_of(plan.through.local).empty();
  }
  return is_safe;
}

std::vector<std::string> make_own_network(const machine_network_options& options,
                                          const std::filesystem::path& folder, node_ranges wanted) {
  std::vector<std::string> problems;
  leave_out_ipv6(wanted, problems);
  if (wanted.own.empty()) return problems;
  auto kernel = netlink::socket::open(NETLINK_ROUTE);
  if (!kernel) return {kernel.error()};
  const auto links = read_links(*kernel, wanted.own);
  if (!links) return {links.error()};
  forward_packets(wanted, problems);
  for (auto& each : find_dropping_chains(wanted.own, options.cluster))
    problems.push_back(std::move(each));
  const auto plan = plan_routes(wanted, *links, options.routes);
  problems.insert(problems.end(), plan.problems.begin(), plan.problems.end());
  const auto config = cni_config(
      {.ranges = wanted.own, .mtu_bytes = plan.pod_mtu_bytes, .addresses = options.addresses});
  if (const auto written = write_cni_file(folder, config, options.marker); !written)
    problems.push_back(written.error());
  if (!filter_tunnel(options, wanted, plan, problems)) return problems;
  auto others = apply_routes(*kernel, plan);
  problems.insert(problems.end(), std::make_move_iterator(others.begin()),
                  std::make_move_iterator(others.end()));
  loosen_checks(plan, problems);
  return problems;
}

}  // namespace

std::string forward_ipv4() {
  return set_parameter("ipv4/ip_forward", '1');
}

made_network make_machine_network(const machine_network_options& options, node_ranges wanted) {
  const auto folder = options.cni_folder();
  if (!folder) return {{folder.error()}};
  const auto foreign = foreign_network(*folder);
  if (!foreign) return {make_own_network(options, *folder, std::move(wanted))};
  std::vector<std::string> problems{
      fmt::format("pods have the network of {}, which is another program's: no addresses and "
                  "routes are given; remove that file for those of the cluster",
                  foreign->string())};
  if (const auto removed = remove_machine_network(options.marker, options.addresses); !removed)
    problems.push_back(removed.error());
  return {std::move(problems), false};
}

tl::expected<void, std::string> remove_machine_network(const std::filesystem::path& marker,
                                                       const std::filesystem::path& addresses) {
  std::error_code ignored;
  if (!std::filesystem::exists(marker, ignored)) return {};
  if (auto removed = remove_routes(); !removed) return removed;
  if (auto removed = remove_tunnel_filter(); !removed) return removed;
  if (auto removed = remove_cni_file(marker); !removed) return removed;
  std::filesystem::remove_all(addresses, ignored);
  return {};
}

}  // namespace troupe::actors::routing

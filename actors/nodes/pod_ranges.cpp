#include "actors/nodes/pod_ranges.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace troupe::actors {
namespace {

// Upstream's maximum difference of the two prefixes (cidrset, clusterSubnetMaxDiff).
constexpr int most_bits = 16;
// The CNI plugin host-local rejects smaller ranges.
constexpr int least_host_bits = 2;

}  // namespace

tl::expected<pod_ranges, std::string> pod_ranges::make(const pod_range_options& options) {
  const auto cluster = api::cidr::parse(options.cluster);
  if (!cluster || !cluster->is_canonical())
    return tl::make_unexpected(
        fmt::format("\"{}\" is not an address range, such as 10.42.0.0/16", options.cluster));
  const int address_bits = cluster->is_v6() ? 128 : 32;
  const int most = std::min(cluster->prefix_bits() + most_bits, address_bits - least_host_bits);
  if (options.node_bits < cluster->prefix_bits() || options.node_bits > most)
    return tl::make_unexpected(
        fmt::format("a node's part of {} has a prefix from /{} to /{}, not /{}", options.cluster,
                    cluster->prefix_bits(), most, options.node_bits));
  return pod_ranges{*cluster, options.node_bits};
}

pod_ranges::pod_ranges(const api::cidr& cluster, int node_bits)
    : cluster_{cluster},
      node_bits_{node_bits},
      holders_(std::size_t{1} << (node_bits - cluster.prefix_bits())) {}

std::optional<api::cidr> pod_ranges::take() {
  for (std::size_t tried = 0; tried < holders_.size(); ++tried) {
    const auto at = (next_ + tried) % holders_.size();
    if (holders_[at] != 0) continue;
    next_ = (at + 1) % holders_.size();
    const auto part = cluster_.part(node_bits_, static_cast<std::uint32_t>(at));
    occupy(part);
    return part;
  }
  return std::nullopt;
}

void pod_ranges::count(const api::cidr& range, int by) {
  std::size_t first = 0, last = holders_.size() - 1;
  if (cluster_.contains(range)) {
    first = last = cluster_.part_number(node_bits_, range);
    if (range.prefix_bits() < node_bits_)
      last = first + (std::size_t{1} << (node_bits_ - range.prefix_bits())) - 1;
  } else if (!range.contains(cluster_)) {
    return;
  }
  for (auto at = first; at <= last; ++at) {
    const bool was = holders_[at] != 0;
    holders_[at] += by;
    if (was != (holders_[at] != 0)) was ? --taken_ : ++taken_;
  }
}

}  // namespace troupe::actors

// The ranges of addresses that nodes give to their pods: equal parts of a range of the cluster, and
// which of them are taken. One for each family of addresses. Pure.
//
// kubernetes: pkg/controller/nodeipam/ipam/cidrset.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "api/values/cidr.hpp"

namespace troupe::actors {

// What the configuration says of them.
struct pod_range_options {
  std::string cluster;  // as "10.42.0.0/16"
  int node_bits = 24;   // the prefix of a node's range
};

class pod_ranges {
 public:
  // The error names what is wrong: no range, or too many or too large parts.
  static tl::expected<pod_ranges, std::string> make(const pod_range_options& options);

  // Each part that the range touches has one holder more, or one less; a range elsewhere is
  // nobody's part. A part may have several holders, since a Node can be written by hand.
  void hold(const api::cidr& range) { count(range, 1); }
  void release(const api::cidr& range) { count(range, -1); }
  // A part that nobody has, held from now on; nothing: all are taken. What was given last comes
  // last, so that the addresses of a node that has gone rest.
  std::optional<api::cidr> take();
  std::size_t taken() const noexcept { return taken_; }
  std::size_t size() const noexcept { return holders_.size(); }

 private:
  pod_ranges(const api::cidr& cluster, int node_bits);
  void count(const api::cidr& range, int by);

  api::cidr cluster_;
  int node_bits_;
  std::vector<std::int32_t> holders_;  // by number of the part
  std::size_t next_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace troupe::actors

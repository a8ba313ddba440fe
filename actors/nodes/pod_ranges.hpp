// The address ranges that nodes assign to their pods: equal parts of a cluster range, and which of
// them are allocated. One object for each address family. Pure.
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

// The configuration of a pool.
struct pod_range_options {
  std::string cluster;  // e.g. "10.42.0.0/16"
  int node_bits = 24;   // prefix length of a node's range
};

class pod_ranges {
 public:
  // The error says why the options are invalid: no range, or too many or too large parts.
  static tl::expected<pod_ranges, std::string> make(const pod_range_options& options);

  // Adds or removes one holder of each part that the range overlaps; a range outside has no part. A
  // part may have several holders, because a Node can be written by hand.
  void occupy(const api::cidr& range) { count(range, 1); }
  void release(const api::cidr& range) { count(range, -1); }
  // Allocates a free part; nothing: all are allocated. Recently freed parts are used last, so that
  // addresses of a deleted node are not reused soon.
  std::optional<api::cidr> take();
  std::size_t taken() const noexcept { return taken_; }
  std::size_t size() const noexcept { return holders_.size(); }

 private:
  pod_ranges(const api::cidr& cluster, int node_bits);
  void count(const api::cidr& range, int by);

  api::cidr cluster_;
  int node_bits_;
  std::vector<std::int32_t> holders_;  // by index of the part
  std::size_t next_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace troupe::actors

// How a pod resolves names (kubernetes: pkg/kubelet/network/dns/dns.go). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

struct resolver_config {
  std::vector<std::string> servers = {}, searches = {}, options = {};
};

// Parses name servers, search domains and options of a resolv.conf.
resolver_config parse_resolv_conf(std::string_view text);
std::string resolv_conf_of(const resolver_config& config);

// The cluster's DNS; no address: this node has none.
struct cluster_resolver {
  std::string address = {}, domain = {};
};

// A pod in the node's network uses the cluster's DNS only with ClusterFirstWithHostNet.
bool wants_cluster_dns(const api::core::v1::Pod& pod);
// dnsPolicy None starts empty, Default with the node's configuration; dnsConfig is added. The
// cluster's DNS forwards to the node's servers, and takes their place.
resolver_config resolver_of(const api::core::v1::Pod& pod, const resolver_config& node,
                            const cluster_resolver& cluster);

}  // namespace troupe::actors

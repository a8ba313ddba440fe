// Constants of the pod network's behaviour, each with its source.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "runtime/clock.hpp"

namespace troupe::actors::network_defaults {

using namespace std::chrono_literals;
using runtime::duration;

// -- DNS ------------------------------------------------------------------------------------------

// kubernetes: kubeadm's ClusterConfiguration, networking.dnsDomain.
inline constexpr const char* cluster_domain = "cluster.local";
// The tenth address of the service network (kubeadm: GetDNSIP).
inline constexpr const char* dns_address = "10.96.0.10";
inline constexpr std::uint16_t dns_port = 53;
// CoreDNS: plugin/kubernetes, defaultTTL; also the TTL of negative answers.
inline constexpr std::uint32_t dns_ttl_s = 5;
// Size of a UDP answer to a client that announces none (RFC 1035), and the maximum, so that no
// answer is fragmented (DNS flag day 2020).
inline constexpr std::size_t dns_least_udp_bytes = 512;
inline constexpr std::size_t dns_most_udp_bytes = 1'232;
inline constexpr std::size_t dns_most_tcp_bytes = 65'535;
// Longer queries can only contain padding.
inline constexpr std::size_t dns_question_bytes = 4'096;
// Messages read from a socket in a row, before other sockets get their turn.
inline constexpr std::size_t dns_batch = 32;
// Maximum length of an alias chain (the same as in CoreDNS).
inline constexpr int dns_aliases = 8;
// Maximum number of TCP connections, and of those from one address, so that one pod does not take
// them all; timeout without a query or without reading.
inline constexpr std::size_t dns_connections = 128;
inline constexpr std::size_t dns_connections_of_client = 32;
inline constexpr std::chrono::milliseconds dns_idle = 5s;
// Pause of accepting TCP connections when file descriptors or memory have run out (Go: net/http,
// Server.Serve, the longest of its pauses).
inline constexpr std::chrono::milliseconds dns_accept_pause = 1s;
// Maximum number of forwarded queries, each with a socket; more are answered with SERVFAIL.
inline constexpr std::size_t dns_forwarded = 512;
// Timeout and number of attempts of a forwarded query: together less than the 5 s after which
// client libraries ask again (resolv.conf(5)).
inline constexpr std::chrono::milliseconds dns_resolver_limit = 1'300ms;
inline constexpr int dns_resolver_attempts = 3;
// Servers used from the node's resolv.conf (resolv.conf(5), MAXNS).
inline constexpr std::size_t dns_resolvers = 3;

// -- changes --------------------------------------------------------------------------------------

// Service changes within this time are applied together.
inline constexpr duration coalescing = 5ms;

// -- nftables -------------------------------------------------------------------------------------

// kubernetes: pkg/proxy/nftables, masquerade-bit 14.
inline constexpr std::uint32_t masquerade_mark = 0x4000;
// Maximum number of endpoints of one service port that get connections.
inline constexpr std::size_t most_endpoints = 1'000;
// kubernetes: core/v1, DefaultClientIPServiceAffinitySeconds.
inline constexpr int affinity_timeout_s = 10'800;
// Timeout of one run of nft; back-off before a full write after a failure.
inline constexpr std::chrono::milliseconds nft_limit = 30s;
// To read the counts of a service's connections for a user who waits.
inline constexpr std::chrono::milliseconds counts_limit = 5s;
inline constexpr std::size_t counts_bytes = 256u << 10;
// Maximum size of nft's text of all chains or of another program's table, and number of that
// program's chains that are examined. Text beyond it is not seen.
inline constexpr std::size_t rules_bytes = 4u << 20;
inline constexpr std::size_t most_dropping_chains = 8;
inline constexpr duration nft_retry = 2s;
inline constexpr duration nft_longest_retry = 60s;
// Timeout of the answer to a script, including the time that it waits for others' scripts.
inline constexpr duration nft_answer_limit = 120s;
// Period of the check that a table still exists: another program may have flushed all rules
// (kubernetes: kube-proxy, nftables.syncPeriod).
inline constexpr duration nft_probe = 30s;
// Period of the check whether the kernel accepts tables of IPv6 that were refused at the start.
inline constexpr duration ipv6_check = 60s;
// Delay before rules that another program removed are restored: it may still be removing more.
inline constexpr duration nft_restore = 1s;
// The kernel's buffer for messages about changes of nftables, and the maximum number of different
// removals that wait to be reported. Beyond either limit all tables count as changed, at most once
// in nft_probe.
inline constexpr int rule_events_bytes = 4 * 1024 * 1024;
inline constexpr std::size_t most_removals = 256;
// Buffer for the kernel's connection table, more than it sends at once (32 KiB), and the timeout of
// reading it.
inline constexpr std::size_t conntrack_read_bytes = 65'536;
inline constexpr std::chrono::seconds conntrack_limit{5};

// -- pods -----------------------------------------------------------------------------------------

// Buffer of a netlink socket, more than the kernel sends at once (32 KiB), and its timeout.
inline constexpr std::size_t netlink_read_bytes = 65'536;
inline constexpr std::chrono::seconds netlink_limit{5};
// Protocol number of our routes, unassigned in /etc/iproute2/rt_protos.
inline constexpr std::uint8_t route_protocol = 84;
// VXLAN network and port as in flannel, k3s's default; 8472 is Linux's port before IANA's.
inline constexpr const char* tunnel_device = "troupe-vx";
inline constexpr std::uint32_t tunnel_id = 1;
inline constexpr std::uint16_t tunnel_port = 8472;
// Our tables with the rules of that port.
inline constexpr const char* tunnel_table = "troupe-tunnel";
// Size of VXLAN's headers in a packet: Ethernet, IPv4, UDP and VXLAN.
inline constexpr std::uint32_t tunnel_overhead_bytes = 50;
inline constexpr std::uint32_t tunnel_overhead_bytes_v6 = 70;
// The minimum MTU of IPv6 (RFC 8200).
inline constexpr std::uint32_t least_mtu_bytes = 1'280;
// Prefix length of a node's IPv6 range (kubernetes: --node-cidr-mask-size-ipv6).
inline constexpr int node_bits_v6 = 64;
// Names of the devices by which pods are connected (containernetworking: pkg/ip, RandomVethName).
inline constexpr const char* pod_devices = "veth*";
// The default folder of CNI files, if the container runtime does not name one (libcni).
inline constexpr const char* cni_folder = "/etc/cni/net.d";
inline constexpr const char* cni_file = "10-troupe.conflist";
// Back-off after a failure, and the period of checks without a change of a Node: links come and go,
// and other programs remove routes.
inline constexpr duration pod_network_retry = 2s;
inline constexpr duration pod_network_longest_retry = 60s;
inline constexpr duration pod_network_renewal = 60s;
// Timeout of one run.
inline constexpr duration pod_network_answer_limit = 120s;
// Maximum length of the problems in the Node's condition.
inline constexpr std::size_t pod_network_message_bytes = 1'024;

}  // namespace troupe::actors::network_defaults

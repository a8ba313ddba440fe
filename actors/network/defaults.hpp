// The constants that stand for behaviour of the pod network, each with its source.
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
// CoreDNS: plugin/kubernetes, defaultTTL; also what a negative answer is kept for.
inline constexpr std::uint32_t dns_ttl_s = 5;
// Of an answer by UDP to who does not say what it takes (RFC 1035), and at most, so that no answer
// is cut into fragments (DNS flag day 2020).
inline constexpr std::size_t dns_least_udp_bytes = 512;
inline constexpr std::size_t dns_most_udp_bytes = 1'232;
inline constexpr std::size_t dns_most_tcp_bytes = 65'535;
// A question is longer only by padding.
inline constexpr std::size_t dns_question_bytes = 4'096;
// Read from a socket at once, before other sockets have their turn.
inline constexpr std::size_t dns_batch = 32;
// Names that one leads to, as an alias of an alias (CoreDNS follows as many).
inline constexpr int dns_aliases = 8;
// Connections of TCP at once, and how long one stays without a question, or without reading.
inline constexpr std::size_t dns_connections = 128;
inline constexpr std::chrono::milliseconds dns_idle = 5s;
// Questions forwarded at once, each with a socket; more are answered with SERVFAIL.
inline constexpr std::size_t dns_forwarded = 512;
// How long a resolver has, and how often the next one is asked: together less than the 5 s after
// which the libraries of clients ask again (resolv.conf(5)).
inline constexpr std::chrono::milliseconds dns_resolver_limit = 1'300ms;
inline constexpr int dns_resolver_attempts = 3;
// Of the node's resolv.conf (resolv.conf(5), MAXNS).
inline constexpr std::size_t dns_resolvers = 3;

// -- changes --------------------------------------------------------------------------------------

// Changes of services that come together are applied together.
inline constexpr duration coalescing = 5ms;

// -- nftables -------------------------------------------------------------------------------------

// kubernetes: pkg/proxy/nftables, masquerade-bit 14.
inline constexpr std::uint32_t masquerade_mark = 0x4000;
// The largest number of endpoints that one port of a service is spread over.
inline constexpr std::size_t most_endpoints = 1'000;
// kubernetes: core/v1, DefaultClientIPServiceAffinitySeconds.
inline constexpr int affinity_timeout_s = 10'800;
// Clients that one endpoint is remembered for; more are spread as if there was no affinity. What
// the kernel gives to a set that says nothing.
inline constexpr int affinity_clients = 65'535;
// How long one run of nft may take, and when a full one follows a failure.
inline constexpr std::chrono::milliseconds nft_limit = 30s;
inline constexpr duration nft_retry = 2s;
inline constexpr duration nft_longest_retry = 60s;
// How long the answer to a script may take, with the scripts of others that wait before it.
inline constexpr duration nft_answer_limit = 120s;
// How often it is asked whether a table is still there: another program may have flushed all rules
// (kubernetes: kube-proxy, nftables.syncPeriod).
inline constexpr duration nft_probe = 30s;
// When the rules are put back that another program took away: it may not have ended.
inline constexpr duration nft_restore = 1s;
// What the kernel keeps of changes of nftables until they are read, and different tables and
// senders of what was removed until they are judged: more count as a change of all.
inline constexpr int rule_events_bytes = 4 * 1024 * 1024;
inline constexpr std::size_t most_removals = 256;
// Of the kernel's list of connections: more than it gives at once (32 KiB), and how long it may
// take for that.
inline constexpr std::size_t conntrack_read_bytes = 65'536;
inline constexpr std::chrono::seconds conntrack_limit{5};

// -- pods -----------------------------------------------------------------------------------------

// Of a netlink socket: more than the kernel gives at once (32 KiB), and how long it may take.
inline constexpr std::size_t netlink_read_bytes = 65'536;
inline constexpr std::chrono::seconds netlink_limit{5};
// The mark of our routes: a number that /etc/iproute2/rt_protos gives to nobody.
inline constexpr std::uint8_t route_protocol = 84;
// flannel's VXLAN, which is k3s's default: network 1, and the port of Linux before the IANA's.
inline constexpr const char* tunnel_device = "troupe-vx";
inline constexpr std::uint32_t tunnel_id = 1;
inline constexpr std::uint16_t tunnel_port = 8472;
// What VXLAN adds to a packet: Ethernet, IPv4, UDP and its own head.
inline constexpr std::uint32_t tunnel_overhead_bytes = 50;
// IPv6 asks for no less (RFC 8200).
inline constexpr std::uint32_t least_mtu_bytes = 1'280;
// An IPv6 range of a node (kubernetes: --node-cidr-mask-size-ipv6).
inline constexpr int node_bits_v6 = 64;
// Where a container runtime finds its networks that does not say where (libcni).
inline constexpr const char* cni_folder = "/etc/cni/net.d";
inline constexpr const char* cni_file = "10-troupe.conflist";
// When a network that could not be made is tried again, and how often it is looked at although
// no Node has changed: links come and go, and others remove routes.
inline constexpr duration pod_network_retry = 2s;
inline constexpr duration pod_network_longest_retry = 60s;
inline constexpr duration pod_network_renewal = 60s;

}  // namespace troupe::actors::network_defaults

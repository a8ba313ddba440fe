// Named constants of the etcd that `troupe etcd` runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace troupe::tools::etcd_defaults {

using namespace std::chrono_literals;

// Apart from a node's: both have a pki of their own.
inline constexpr std::string_view data_dir = "./var-etcd";
// etcd's own ports; kubeadm has its metrics at 2381.
inline constexpr std::uint16_t client_port = 2379;
inline constexpr std::uint16_t peer_port = 2380;
inline constexpr std::uint16_t join_port = 2382;
// The package's program, and its name in Debian.
inline constexpr std::string_view binary = "/usr/bin/etcd";
inline constexpr std::string_view package = "etcd-server";

// Flags of etcd. The largest quota that its manual names for normal use.
inline constexpr std::uint64_t quota_bytes = 8ull << 30;
// An object has 3 MiB at most (store_options::value_limit_bytes), and its transaction a little
// more.
inline constexpr std::uint64_t request_bytes = 4u << 20;
// 3.6's default: 3.4 keeps the last 100,000 entries in memory, with their values.
inline constexpr std::uint64_t snapshot_count = 10'000;
// etcd's own defaults. Half of both is well in one rack: a leader that is killed is then replaced
// in about half the time.
inline constexpr std::chrono::milliseconds heartbeat = 100ms;
inline constexpr std::chrono::milliseconds election = 1000ms;
inline constexpr std::chrono::milliseconds shortest_election = 50ms;
// etcd refuses more (embed.Config), and less than five heartbeats.
inline constexpr std::chrono::milliseconds longest_election = 50s;

// etcd's manual: more than seven cost writes and bring nothing.
inline constexpr std::size_t members = 7;

// How often the child is looked at, and how often etcd is asked while something is awaited.
inline constexpr std::chrono::milliseconds look_period = 250ms;
inline constexpr std::chrono::milliseconds ask_period = 1s;
// How often the list of members is written down, for the next start and for tokens.
inline constexpr std::chrono::milliseconds refresh_period = 15s;
inline constexpr std::chrono::milliseconds call_limit = 2s;
// etcd's HealthInterval, 5 s, with room for a leader that is elected meanwhile.
inline constexpr std::chrono::milliseconds health_limit = 15s;
// Pauses before a child that has died is started again; the first one again after it has served
// that long.
inline constexpr std::chrono::milliseconds first_pause = 500ms;
inline constexpr std::chrono::milliseconds longest_pause = 30s;
inline constexpr std::chrono::milliseconds good_run = 60s;
// So many starts in a row that never served are an error of the machine, or of the flags.
inline constexpr int failed_starts = 5;
// From SIGTERM to SIGKILL: a leader hands over before it ends.
inline constexpr std::chrono::milliseconds end_limit = 8s;
inline constexpr std::chrono::milliseconds process_end = 10s;
// How long a removed member's process may take to notice.
inline constexpr std::chrono::milliseconds leave_limit = 15s;

// kubeadm init --upload-certs: what is sealed stays for two hours.
inline constexpr std::chrono::hours token_life{2};
inline constexpr std::size_t tokens = 100;
inline constexpr std::size_t file_bytes = 64u << 10;
// Refused tokens make at most one line of the log in this time.
inline constexpr std::chrono::milliseconds refusal_period = 10s;
// Joining machines whose answers wait.
inline constexpr std::size_t join_queue = 64;
inline constexpr std::chrono::milliseconds certificate_check = 1h;

}  // namespace troupe::tools::etcd_defaults

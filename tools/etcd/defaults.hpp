// Named constants of the etcd that `troupe etcd` runs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace troupe::tools::etcd_defaults {

using namespace std::chrono_literals;

// Differs from a node's: both have a folder pki.
inline constexpr std::string_view data_dir = "./var-etcd";
// etcd's own ports; kubeadm has its metrics at 2381.
inline constexpr std::uint16_t client_port = 2379;
inline constexpr std::uint16_t peer_port = 2380;
inline constexpr std::uint16_t join_port = 2382;
// The program of Debian's package, and the package's name.
inline constexpr std::string_view binary = "/usr/bin/etcd";
inline constexpr std::string_view package = "etcd-server";

// Flags of etcd. This is the largest quota that its manual recommends for normal use.
inline constexpr std::uint64_t quota_bytes = 8ull << 30;
// An object has at most 3 MiB (store_options::value_limit_bytes); its transaction is slightly
// larger.
inline constexpr std::uint64_t request_bytes = 4u << 20;
// 3.6's default: 3.4 keeps the last 100,000 entries in memory, with their values.
inline constexpr std::uint64_t snapshot_count = 10'000;
// etcd's own defaults. Half of both is fine inside one rack: a killed leader is then replaced in
// about half the time.
inline constexpr std::chrono::milliseconds heartbeat = 100ms;
inline constexpr std::chrono::milliseconds election = 1000ms;
inline constexpr std::chrono::milliseconds shortest_election = 50ms;
// etcd refuses a longer time (embed.Config), and one below five heartbeats.
inline constexpr std::chrono::milliseconds longest_election = 50s;

// etcd's manual: more than seven members slow down writes and add nothing.
inline constexpr std::size_t members = 7;

// How often the child process is checked, and how often etcd is polled during a wait.
inline constexpr std::chrono::milliseconds check_period = 250ms;
inline constexpr std::chrono::milliseconds ask_period = 1s;
// How often the list of members is saved, for the next start and for tokens.
inline constexpr std::chrono::milliseconds refresh_period = 15s;
inline constexpr std::chrono::milliseconds call_limit = 2s;
// etcd's HealthInterval, 5 s, plus the time of a leader election.
inline constexpr std::chrono::milliseconds health_limit = 15s;
// Pauses before a dead child is restarted; the first pause applies again after it has served for
// that long.
inline constexpr std::chrono::milliseconds first_pause = 500ms;
inline constexpr std::chrono::milliseconds longest_pause = 30s;
inline constexpr std::chrono::milliseconds good_run = 60s;
// This many starts in a row without serving mean an error of the machine or of the flags.
inline constexpr int failed_starts = 5;
// From SIGTERM to SIGKILL: a leader transfers its role before it ends.
inline constexpr std::chrono::milliseconds end_limit = 8s;
inline constexpr std::chrono::milliseconds process_end = 10s;
// Time for a removed member's process to notice its removal.
inline constexpr std::chrono::milliseconds leave_limit = 15s;

// As kubeadm init --upload-certs: sealed keys are kept for two hours.
inline constexpr std::chrono::hours token_lifetime{2};
inline constexpr std::size_t tokens = 100;
inline constexpr std::size_t file_bytes = 64u << 10;
// Refused tokens log at most one line in this time.
inline constexpr std::chrono::milliseconds refusal_period = 10s;
// Joining machines that wait for a response.
inline constexpr std::size_t join_queue = 64;
inline constexpr std::chrono::milliseconds certificate_check = 1h;

}  // namespace troupe::tools::etcd_defaults

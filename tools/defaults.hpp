// Named constants of the program.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::tools::defaults {

// A node ends within two seconds of SIGTERM: the data on disk is consistent at any moment, so
// nothing justifies a longer wait.
inline constexpr std::chrono::milliseconds stop_limit{2'000};

// Threads and descriptors of a node, counted in an idle one: 25 threads beside those of its actors
// (HTTP 2, store 3, RocksDB 2, the kubelet's, logs, clocks, 4 of the allocator) and 29 descriptors,
// with room for a session of each kind.
inline constexpr std::size_t fixed_threads = 26;
inline constexpr std::size_t min_descriptors = 128;

// Log lines that wait for a slow reader of stderr; when full, the oldest lines are dropped, so that
// no thread waits for the log.
inline constexpr std::size_t log_queue_lines = 8'192;

// How long a command waits for a connection, and for a response: the server's own limit for a view
// is 200 ms, and a trace sends a sign of life each second.
inline constexpr std::chrono::seconds connect_limit{5};
inline constexpr std::chrono::seconds answer_limit{10};
// The shortest polling period: a shorter one shows a user nothing more and loads the server.
inline constexpr std::chrono::milliseconds min_poll{10};
// How often the live view is drawn, and how often the prompt checks for warnings.
inline constexpr std::chrono::milliseconds console_refresh{1'000};
inline constexpr std::chrono::milliseconds console_warning_period{5'000};
// How often a request in progress is checked for Ctrl-C, and how long the prompt waits for its own
// requests: warnings, and names for completion.
inline constexpr std::chrono::milliseconds cancel_poll_period{20};
inline constexpr std::chrono::milliseconds console_background_limit{1'000};
// How long a starting node waits for the version of each member of etcd.
inline constexpr std::chrono::seconds etcd_version_limit{1};
// Lines of the prompt's history that are kept between sessions.
inline constexpr int console_history_lines = 1'000;

// Deadline to end the pods of a machine that was removed from its cluster.
inline constexpr std::chrono::seconds expelled_limit{10};
// Time-out of the query to systemd whether the machine stops; systemd normally answers at once.
inline constexpr std::chrono::milliseconds systemd_wait{1'000};
// How long a node waits before it tries again to listen for joined nodes.
inline constexpr std::chrono::seconds link_retry{5};
// How long a start waits for a remote store.
inline constexpr std::chrono::seconds store_wait{60};
// How often a start opens a store again whose etcd was restored from a backup: another control
// plane may raise the base meanwhile.
inline constexpr int restored_attempts = 3;
// How long a control plane that starts waits for a sign of life of another one with its name, two
// periods of renewal, and how often it looks.
inline constexpr std::chrono::seconds name_wait{10};
inline constexpr std::chrono::milliseconds name_poll{100};
// Size limit of an authority's files in a backup: certificates, keys and tokens.
inline constexpr std::size_t authority_file_bytes = 1u << 20;
inline constexpr std::size_t authority_files = 100;
// How long a control plane that ends waits until it has resigned as leader.
inline constexpr std::chrono::seconds resign_wait{2};
// Connections to the console of a joined machine, at its socket.
inline constexpr std::size_t local_connections = 64;

// Width of help texts.
inline constexpr std::size_t help_columns = 96;

}  // namespace troupe::tools::defaults

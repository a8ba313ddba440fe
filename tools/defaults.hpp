// Named constants of the program.
#pragma once

#include <chrono>
#include <cstddef>

namespace troupe::tools::defaults {

// A node ends within two seconds of SIGTERM: what is on disk is whole at any moment, so nothing is
// worth waiting longer for.
inline constexpr std::chrono::milliseconds stop_limit{2'000};

// What a node starts with, counted in one that stands idle: 25 threads beside those of its actors
// (HTTP 2, store 3, RocksDB 2, the kubelet's, logs, clocks, 4 of the allocator) and 29 descriptors,
// with room for a session of each kind.
inline constexpr std::size_t fixed_threads = 26;
inline constexpr std::size_t min_descriptors = 128;

// Log lines that wait for a slow reader of stderr; the oldest make room for newer ones, so that
// nobody who logs ever waits.
inline constexpr std::size_t log_queue_lines = 8'192;

// How long a command waits for a connection, and for an answer: the server's own limit for a view
// is 200 ms, and a trace says each second that it lives.
inline constexpr std::chrono::seconds connect_limit{5};
inline constexpr std::chrono::seconds answer_limit{10};
// The shortest period of polling: a shorter one shows a user nothing more and costs the server.
inline constexpr std::chrono::milliseconds min_poll{10};
// How often the live view is drawn, and how often the prompt looks for warnings.
inline constexpr std::chrono::milliseconds console_refresh{1'000};
inline constexpr std::chrono::milliseconds console_warning_period{5'000};
// How often a request under way is checked for Ctrl-C, and how long the prompt waits for what it
// asks by itself: warnings, and names for completion.
inline constexpr std::chrono::milliseconds cancel_poll_period{20};
inline constexpr std::chrono::milliseconds console_background_limit{1'000};
// Lines of the prompt that are remembered from session to session.
inline constexpr int console_history_lines = 1'000;

// What runs on a machine that was removed from its cluster is ended by then.
inline constexpr std::chrono::seconds expelled_limit{10};
// For systemd's answer whether the machine stops; it is at hand, or the machine is not well.
inline constexpr std::chrono::milliseconds systemd_wait{1'000};
// How long a node waits before it tries again to listen for joined nodes.
inline constexpr std::chrono::seconds link_retry{5};
// How long a start waits for a store that is elsewhere.
inline constexpr std::chrono::seconds store_wait{60};
// The files of an authority in a backup: certificates, keys and tokens.
inline constexpr std::size_t authority_file_bytes = 1u << 20;
inline constexpr std::size_t authority_files = 100;
// How long a control plane that ends waits until it has given the lead up.
inline constexpr std::chrono::seconds resign_wait{2};
// To the console of a joined machine, at its socket.
inline constexpr std::size_t local_connections = 64;

// Width of help texts.
inline constexpr std::size_t help_columns = 96;

}  // namespace troupe::tools::defaults

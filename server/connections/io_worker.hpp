// One I/O thread of the server, with its connections.
#pragma once

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "server/connections/event_loop.hpp"
#include "server/connections/http_server.hpp"
#include "server/connections/transport.hpp"
#include "server/connections/unauthenticated_connections.hpp"
#include "server/flow_control/refusal_log.hpp"
#include "server/flow_control/stream_budget.hpp"

namespace troupe::server {

class connection;
class listener;

struct http_counters {
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> shed{0};
  std::atomic<std::uint64_t> failed_handshakes{0};
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> timed_out{0};
  std::atomic<std::uint64_t> overrun_streams{0};
  // Authenticated connections, and how many each user has.
  std::atomic<std::uint64_t> authenticated{0};
  key_counts authenticated_of_user;
  // Shared with requests, which may outlive the server.
  std::shared_ptr<body_budget> bodies = std::make_shared<body_budget>();
  std::shared_ptr<stream_budget> streams;  // shared likewise
  refusal_log refusals;

  explicit http_counters(const http_options& options)
      : streams{
            std::make_shared<stream_budget>(options.streams_bytes, options.stream_buffer_bytes)} {}
};

// The target and the properties of a listening socket.
struct site {
  handler& target;
  const tls_identity* identity;  // null: plain
  std::string local;
  bool in_file_system;  // a Unix socket: file permissions authenticate its clients
};

// The result of accept().
struct accepted_socket {
  int descriptor;
  std::string peer;
  std::uint64_t address;  // address_of()
};

class io_worker {
 public:
  // Enforces its share of the server's limits.
  io_worker(std::size_t index, const http_options& options, http_counters& counters);
  io_worker(const io_worker&) = delete;
  io_worker& operator=(const io_worker&) = delete;
  // Closes the remaining connections.
  ~io_worker();

  // -- any thread -------------------------------------------------------------------------------

  // Takes ownership of an accepted socket, which is already counted in `connections`. `full`: an
  // unauthenticated connection must be closed for it.
  void adopt(accepted_socket socket, std::shared_ptr<const site> site, bool full);
  // The first worker accepts for all. Returns false if the kernel refuses to watch the socket.
  bool add_listener(std::unique_ptr<listener> made);
  void close_listeners();
  // Asks all connections to end soon; the future is ready when they have ended.
  std::future<void> drain();
  void stop();
  // The number of connections on this thread, for distributing new ones.
  std::size_t load() const noexcept { return load_.load(std::memory_order_relaxed); }
  // The number of unauthenticated ones. Includes those not yet opened on the thread: a burst of
  // connections is not refused while one of them could be closed.
  std::size_t unauthenticated() const noexcept {
    return unauthenticated_.size() + coming_.load(std::memory_order_relaxed);
  }
  event_loop& loop() noexcept { return loop_; }

  // -- for its connections ----------------------------------------------------------------------

  const http_options& options() const noexcept { return options_; }
  http_counters& counters() noexcept { return counters_; }
  io_buffers& buffers() noexcept { return buffers_; }
  // A buffer of defaults::record_bytes for reading.
  char* scratch() noexcept { return scratch_.data(); }
  std::size_t scratch_size() const noexcept { return scratch_.size(); }
  // A buffer for the head of a response.
  std::string& head_text() noexcept { return head_text_; }
  // The value of the Date header.
  const std::string& date() const noexcept { return date_; }
  std::uint64_t next_request_id() noexcept;
  void release(connection& ended);
  // Counts an authenticated connection for its user. Returns false if the user has too many: it
  // then stays among the unauthenticated ones.
  bool assign_to_user(connection& connection, const user_info& user);
  // Writes the refusal into the audit log and calls the observer.
  void refused(const refusal& refusal);

 private:
  void open(accepted_socket socket, std::shared_ptr<const site> site, bool full);
  bool make_room(std::uint64_t address, bool full);
  void shed(connection& connection);
  void tick();
  void drop_listeners();
  void close_all();
  void notify_when_empty();

  const std::size_t index_;
  const http_options& options_;
  http_counters& counters_;
  event_loop loop_;
  io_buffers buffers_;
  std::string scratch_;
  std::string head_text_;
  std::string date_;
  std::vector<std::unique_ptr<listener>> listeners_;
  std::vector<std::unique_ptr<connection>> connections_;
  unauthenticated_connections unauthenticated_;
  std::atomic<std::size_t> load_{0};
  std::atomic<std::size_t> coming_{0};  // unauthenticated, passed to adopt() but not yet opened
  std::uint64_t next_id_;
  bool draining_ = false;
  std::promise<void> drained_;
};

}  // namespace troupe::server

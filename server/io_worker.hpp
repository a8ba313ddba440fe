// One I/O thread of the server with the connections that live on it.
#pragma once

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "server/event_loop.hpp"
#include "server/http_server.hpp"
#include "server/transport.hpp"

namespace troupe::server {

class connection;
class listener;

struct http_counters {
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> accepted{0};
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> failed_handshakes{0};
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> timed_out{0};
  std::atomic<std::uint64_t> overrun_streams{0};
};

// What a listening socket serves.
struct site {
  handler& target;
  const tls_identity* identity;  // null: plain
  std::string local;
};

class io_worker {
 public:
  io_worker(std::size_t index, const http_options& options, http_counters& counters);
  io_worker(const io_worker&) = delete;
  io_worker& operator=(const io_worker&) = delete;
  // Closes what is left.
  ~io_worker();

  // -- any thread -------------------------------------------------------------------------------

  // Takes an accepted socket over; it counts in `connections` already.
  void adopt(int descriptor, std::string peer, std::shared_ptr<const site> where);
  // The first worker accepts for all. False: the kernel refused to watch the socket.
  bool add_listener(std::unique_ptr<listener> made);
  void close_listeners();
  // Asks all connections to end soon; ready when they have.
  std::future<void> drain();
  void stop();
  // Connections on this thread, to share new ones out.
  std::size_t load() const noexcept { return load_.load(std::memory_order_relaxed); }
  event_loop& loop() noexcept { return loop_; }

  // -- for its connections ----------------------------------------------------------------------

  const http_options& options() const noexcept { return options_; }
  http_counters& counters() noexcept { return counters_; }
  io_buffers& buffers() noexcept { return buffers_; }
  // Scratch space of defaults::record_bytes to read into.
  char* scratch() noexcept { return scratch_.data(); }
  std::size_t scratch_size() const noexcept { return scratch_.size(); }
  // Scratch space for the head of an answer.
  std::string& head_text() noexcept { return head_text_; }
  // The value of the Date header.
  const std::string& date() const noexcept { return date_; }
  std::uint64_t next_request_id() noexcept;
  void release(connection& ended);

 private:
  void open(int descriptor, std::string peer, std::shared_ptr<const site> where);
  void tick();
  void drop_listeners();
  void close_all();
  void say_when_empty();

  const http_options& options_;
  http_counters& counters_;
  event_loop loop_;
  io_buffers buffers_;
  std::string scratch_;
  std::string head_text_;
  std::string date_;
  std::vector<std::unique_ptr<listener>> listeners_;
  std::vector<std::unique_ptr<connection>> connections_;
  std::atomic<std::size_t> load_{0};
  std::uint64_t next_id_;
  bool draining_ = false;
  std::promise<void> drained_;
};

}  // namespace troupe::server

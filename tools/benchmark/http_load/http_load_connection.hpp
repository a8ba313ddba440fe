// One connection of a load: non-blocking, with or without TLS, on one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "benchmark/http_load/http_load.hpp"

struct ssl_st;
struct ssl_ctx_st;

namespace troupe::bench {

using load_clock = std::chrono::steady_clock;

// State shared by the connections of one thread.
struct load_thread {
  const load_options& options;
  ssl_ctx_st* tls;
  // False when the load is over; otherwise sets the number of the next request.
  std::function<bool(std::uint64_t& number)> take;
  load_result result;

  void answered(int status, std::size_t bytes, load_clock::time_point asked);
};

// The transport below HTTP. The handshake and the connect block: they are not measured.
class load_socket {
 public:
  // Throws std::runtime_error.
  explicit load_socket(const load_thread& thread);
  ~load_socket();
  load_socket(const load_socket&) = delete;
  load_socket& operator=(const load_socket&) = delete;

  // Queues the bytes; flush() sends as many as the kernel accepts.
  void write(std::string_view bytes) { waiting_ += bytes; }
  void flush();
  // The number of bytes; 0 if none are available. Throws at the end of the connection.
  std::size_t read(char* into, std::size_t size);
  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_ = -1;
  ssl_st* ssl_ = nullptr;
  std::string waiting_;
};

class load_connection {
 public:
  virtual ~load_connection() = default;
  virtual int descriptor() const = 0;
  // Sends as many requests as it may.
  virtual void start() = 0;
  // The socket is readable or writable. Throws std::runtime_error if the server closes it early.
  virtual void on_event() = 0;
  // Number of outstanding responses.
  virtual std::size_t waiting() const = 0;
};

std::unique_ptr<load_connection> make_http1_load(load_thread& thread);
std::unique_ptr<load_connection> make_http2_load(load_thread& thread);

}  // namespace troupe::bench

// A TCP connection, with or without TLS, all of whose operations end at a deadline. Blocks: not for
// actor threads.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "runtime/unique_fd.hpp"

namespace troupe::actors {

// Error of a TLS handshake with a server that does not speak TLS, in Go's words.
inline constexpr std::string_view plain_answer = "server gave HTTP response to HTTPS client";

class timed_socket {
 public:
  using clock = std::chrono::steady_clock;
  // The error of an operation that is not done in time.
  static constexpr const char* late = "timeout";

  // Errors are the system's, in Go's words; a timeout after the deadline, or as soon as the
  // descriptor `cancel` becomes readable.
  static tl::expected<timed_socket, std::string> connect(const std::string& host, int port,
                                                         clock::time_point deadline,
                                                         int cancel = -1);
  // Starts TLS on the connection. The certificate is not verified: a probe checks health, not
  // identity.
  tl::expected<void, std::string> start_tls(const std::string& host);

  // Certificates of the TLS peer as PEM, its own first; empty without TLS.
  std::vector<std::string> shown_certificates() const;

  tl::expected<void, std::string> write(std::string_view bytes);
  // Waits for bytes and returns them; empty: the peer has closed the connection.
  tl::expected<std::string, std::string> read_part();
  // Reads until the peer closes the connection, at most `limit` bytes.
  tl::expected<std::string, std::string> read_all(std::size_t limit);

  timed_socket(timed_socket&&) noexcept;
  ~timed_socket();

 private:
  struct tls;
  timed_socket(runtime::unique_fd fd, clock::time_point deadline, int cancel);
  bool wait(short events) const;
  // Returns the number of bytes read; 0 at the end of the stream.
  tl::expected<std::size_t, std::string> read_some(char* into, std::size_t size);
  tl::expected<std::size_t, std::string> write_some(const char* from, std::size_t size);
  template <class Step>
  tl::expected<int, std::string> until_done(Step step);

  runtime::unique_fd fd_;
  clock::time_point deadline_;
  int cancel_;
  std::unique_ptr<tls> tls_;
};

}  // namespace troupe::actors

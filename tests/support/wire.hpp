// A blocking connection with or without TLS, for tests that write protocols by hand. Every wait
// ends after `timeout`. Not thread safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::test {

struct wire_options {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  bool tls = true;
  // PEM texts. Without an authority the server's certificate is not checked.
  std::string authority;
  std::string certificate;
  std::string private_key;
  std::vector<std::string> protocols;  // offered by ALPN
  int lowest_version = 0;              // TLS1_2_VERSION ..., 0: any
  int highest_version = 0;
  int receive_buffer_bytes = 0;  // of the socket; 0: the system's choice
  std::chrono::milliseconds timeout{60'000};
};

class wire {
 public:
  // Throws std::runtime_error with the reason if the connection or the handshake fails.
  explicit wire(const wire_options& options);
  ~wire();
  wire(const wire&) = delete;
  wire& operator=(const wire&) = delete;

  // False if the peer has closed, or reads nothing before the time-out.
  bool send(std::string_view bytes);
  // Some bytes; empty if the peer has closed (then ended()) or none arrived before the time-out.
  std::string receive(std::size_t limit = 16384);
  // Whether receive() would return bytes now.
  bool has_input();
  bool ended() const noexcept { return ended_; }
  // Reads until the peer closes; false if it does not before the time-out.
  bool wait_for_end();
  void end_sending();
  std::string protocol() const;
  std::string tls_version() const;
  // The server's certificate as PEM.
  std::string peer_certificate() const;
  int descriptor() const noexcept { return descriptor_; }

 private:
  struct tls_state;
  void connect(const wire_options& options);
  void shake_hands(const wire_options& options);

  int descriptor_ = -1;
  bool ended_ = false;
  std::unique_ptr<tls_state> tls_;
};

}  // namespace troupe::test

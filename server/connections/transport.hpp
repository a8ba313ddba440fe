// The byte stream of a connection: a non-blocking socket, with or without TLS (OpenSSL).
//
// Belongs to one I/O thread and borrows its buffers while it reads or writes, so an idle connection
// has none. Bytes that the kernel does not accept wait here; `blocked()` then tells the caller to
// stop, so at most `defaults::send_bytes` and the text of one write() wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "server/defaults.hpp"

struct ssl_st;
struct ssl_ctx_st;

namespace troupe::server {

// Buffers of an I/O thread; empty between the turns of two connections.
struct io_buffers {
  std::string plain;     // to become a TLS record
  std::string outgoing;  // waiting to be sent
};

class transport {
 public:
  enum class progress { done, again, failed };

  // Takes ownership of the socket. `context` may be null: no TLS.
  transport(int descriptor, ssl_ctx_st* context, io_buffers& buffers);
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  ~transport();

  // After epoll events: there may be data to read; the peer may have closed its side.
  void readable(bool peer_closed) noexcept;

  // For plain HTTP on a TLS port it sends an error to the client and returns `failed`.
  progress handshake();
  // The reason after `failed`.
  const char* handshake_problem() const noexcept { return problem_; }
  bool negotiated_http2() const noexcept;
  struct peer_certificate {
    bool presented = false;
    std::string verify_error;  // empty: good
    std::string common_name;
    std::vector<std::string> organizations;
    std::string key_hash;         // as x509::key_hash
    std::time_t valid_until = 0;  // seconds since 1970
  };
  peer_certificate client_certificate() const;

  // Reads up to `size` bytes. Returns > 0; 0: no data now; -1: the end, or broken().
  std::ptrdiff_t read(char* into, std::size_t size);

  // A connection takes turns with the others of its thread; spent() tells the caller to continue in
  // its next turn.
  void begin_turn() noexcept { turn_bytes_ = 0; }
  bool spent() const noexcept;

  // Consumes all of `text`; flush() must follow before another connection's turn.
  void write(std::string_view text);
  void flush();
  // Sends waiting bytes; called when epoll reports that the socket is writable.
  void writable();

  int descriptor() const noexcept { return descriptor_; }
  bool secure() const noexcept { return ssl_ != nullptr; }
  bool blocked() const noexcept { return !waiting_.empty(); }
  bool broken() const noexcept { return broken_; }
  // Grows with each byte accepted by the kernel: distinguishes a slow peer from a stuck one.
  std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }

  // The maximum size of one call to the kernel; smaller while the peer reads slowly.
  void send_at(std::size_t bytes) noexcept { send_most_ = send_bytes_ = bytes; }

  // Sends close_notify and closes our side; the peer's side stays open.
  void shut_down();
  // Drops waiting bytes and sends nothing more: broken() is true from here on.
  void abandon() noexcept {
    broken_ = true;
    waiting_.clear();
  }
  // Closes at once and drops waiting bytes. Idempotent.
  void close();
  // After shut_down(): discards incoming bytes. Returns like read().
  std::ptrdiff_t discard();

 private:
  friend struct transport_bio;
  void encrypt(std::string_view text);
  void send_outgoing();
  std::ptrdiff_t receive(char* into, std::size_t size);

  int descriptor_;
  ssl_st* ssl_ = nullptr;
  io_buffers& buffers_;
  std::string waiting_;
  std::uint64_t sent_bytes_ = 0;
  const char* problem_ = "the client went away";
  std::size_t send_most_ = defaults::send_bytes;
  std::size_t send_bytes_ = defaults::send_bytes;
  std::size_t turn_bytes_ = 0;  // written in the current turn
  bool drained_ = false;        // the last receive emptied the socket
  bool peer_closed_ = false;
  bool broken_ = false;
};

}  // namespace troupe::server

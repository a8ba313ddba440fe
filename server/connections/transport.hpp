// The bytes of one connection: a non-blocking socket, with OpenSSL on top or not.
//
// Belongs to one I/O thread, whose buffers it borrows while it reads or writes, so an idle
// connection keeps none. What the kernel does not take at once waits here; `blocked()` then asks
// the caller to stop, which bounds it: at most `defaults::send_bytes` and what one write() brought.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/defaults.hpp"

struct ssl_st;
struct ssl_ctx_st;

namespace troupe::server {

// Of an I/O thread; empty between two connections' turns.
struct io_buffers {
  std::string plain;     // waiting to become a record
  std::string outgoing;  // waiting to be sent
};

class transport {
 public:
  enum class progress { done, again, failed };

  // Takes the socket over. `context` may be null: no TLS.
  transport(int descriptor, ssl_ctx_st* context, io_buffers& buffers);
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  ~transport();

  // Events of epoll: there may be something to read; the peer has closed its side.
  void readable(bool peer_closed) noexcept;

  // `failed` after plain HTTP came on a TLS port has already told the client so.
  progress handshake();
  // After `failed`: why.
  const char* handshake_problem() const noexcept { return problem_; }
  bool negotiated_http2() const noexcept;
  struct peer_certificate {
    bool presented = false;
    std::string verify_error;  // empty: good
    std::string common_name;
    std::vector<std::string> organizations;
    std::string key_hash;  // as x509::key_hash
  };
  peer_certificate client_certificate() const;

  // What came, up to `size` bytes: > 0; 0: nothing now; -1: the end, or broken().
  std::ptrdiff_t read(char* into, std::size_t size);

  // A connection has turns with the others of its thread; spent() asks the caller to leave the rest
  // for the next.
  void begin_turn() noexcept { turn_bytes_ = 0; }
  bool spent() const noexcept;

  // Takes all of `text`; flush() must follow before another connection's turn.
  void write(std::string_view text);
  void flush();
  // Sends what waits; called when epoll says that the socket takes more.
  void writable();

  int descriptor() const noexcept { return descriptor_; }
  bool secure() const noexcept { return ssl_ != nullptr; }
  bool blocked() const noexcept { return !waiting_.empty(); }
  bool broken() const noexcept { return broken_; }
  // Grows with every byte that the kernel takes: to tell a slow peer from a stuck one.
  std::uint64_t sent_bytes() const noexcept { return sent_bytes_; }

  // What is handed to the kernel in one call, at most; less while the peer takes less.
  void send_at(std::size_t bytes) noexcept { send_most_ = send_bytes_ = bytes; }

  // Says goodbye (close_notify) and closes our side; the peer's is still open.
  void shut_down();
  // Nothing more is sent, what waits is dropped: broken() from here on.
  void abandon() noexcept {
    broken_ = true;
    waiting_.clear();
  }
  // At once, whatever waits. Safe to call twice.
  void close();
  // After shut_down(): throws away what comes. Answers like read().
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
  std::size_t turn_bytes_ = 0;  // written since the turn began
  bool drained_ = false;        // the last receive took all there was
  bool peer_closed_ = false;
  bool broken_ = false;
};

}  // namespace troupe::server

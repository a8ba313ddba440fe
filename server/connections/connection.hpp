// One accepted socket from handshake to close. Belongs to its I/O thread.
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>

#include "server/connections/io_worker.hpp"
#include "server/connections/protocol.hpp"
#include "server/connections/transport.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

class connection final : public event_loop::source {
 public:
  using time_point = event_loop::time_point;

  connection(io_worker& worker, accepted_socket socket, std::shared_ptr<const site> site);
  ~connection() override;

  void start(int descriptor);
  void on_events(std::uint32_t events) override;
  void on_failure() noexcept override;
  void on_tick();
  void drain();
  // Closes at once; tells the protocol's exchanges that the client is gone.
  void close();

  // -- for the worker ---------------------------------------------------------------------------

  std::size_t index = 0;                     // among its connections
  std::uint64_t unauthenticated_number = 0;  // among the unauthenticated ones; 0: authenticated
  std::optional<std::uint64_t> user_key;     // the key of its user
  // True if the connection waits for nothing from the server.
  bool idle() const;
  const std::string& peer() const noexcept { return info_ ? info_->peer : peer_; }
  std::uint64_t address() const noexcept { return address_; }

  // -- for the protocol -------------------------------------------------------------------------

  transport& wire() noexcept { return wire_; }
  io_worker& worker() noexcept { return worker_; }
  handler& target() const noexcept { return site_->target; }
  // For a new request. A client certificate names no user any more once it has expired.
  const std::shared_ptr<const connection_info>& info();
  time_point now() const noexcept { return worker_.loop().now(); }
  // Call it after code other than this connection (an exchange) has called the protocol: continues
  // reading, flushes, closes a finished connection.
  void proceed();
  // Call it after a request by `user` was authenticated, whether it was allowed or not.
  void assign_to_user(const user_info& user) {
    if (unauthenticated_number != 0) worker_.assign_to_user(*this, user);
  }
  // Reports a refusal that did not come from a handler.
  void refused(const request& request, const response& answer);
  // A request was authenticated, or none needs to be (a client certificate, or no TLS). Until then
  // the connection gets less memory (defaults::unauthenticated_…).
  bool authenticated() const noexcept { return authenticated_; }
  std::size_t header_limit_bytes() const noexcept;
  // Called for each request; returns true when it has authenticated the connection just
  // now.
  bool mark_authenticated(const request& request);
  // Counts a time-out of the protocol.
  void count_time_out() { ++worker_.counters().timed_out; }

 private:
  enum class state : std::uint8_t { shaking_hands, open, lingering, closed };

  // Schedules another turn, after the other connections of the thread.
  void take_another_turn();
  void shake_hands();
  void handshake_failed(std::string_view reason);
  void linger();
  void discard();
  bool stalled();

  io_worker& worker_;
  const std::shared_ptr<const site> site_;
  transport wire_;
  std::unique_ptr<protocol> protocol_;
  std::shared_ptr<const connection_info> info_;
  std::time_t certificate_until_ = 0;  // seconds since 1970; 0: none was presented
  std::string peer_;                   // until the handshake is done, then in info_
  const std::uint64_t address_;
  state state_ = state::shaking_hands;
  bool readable_ = false;
  bool draining_ = false;
  bool was_blocked_ = false;
  bool turn_due_ = false;
  bool authenticated_ = false;
  time_point since_;  // start of the state; while blocked: of the last progress
  std::uint64_t progress_ = 0;
  std::size_t discarded_bytes_ = 0;
};

}  // namespace troupe::server

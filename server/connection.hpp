// One accepted socket from handshake to close. Belongs to its I/O thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "server/http.hpp"
#include "server/io_worker.hpp"
#include "server/protocol.hpp"
#include "server/transport.hpp"

namespace troupe::server {

class connection final : public event_loop::source {
 public:
  using time_point = event_loop::time_point;

  connection(io_worker& home, accepted_socket socket, std::shared_ptr<const site> where);
  ~connection() override;

  void start(int descriptor);
  void on_events(std::uint32_t events) override;
  void on_failure() noexcept override;
  void on_tick();
  void drain();
  // At once; tells the protocol's exchanges that the client is gone.
  void close();

  // -- the worker's own -------------------------------------------------------------------------

  std::size_t index = 0;                  // among its connections
  std::uint64_t stranger = 0;             // its number among the strangers; 0: it is none
  std::optional<std::uint64_t> known_as;  // the key of its user
  // It waits for nothing from us.
  bool idle() const;
  const std::string& peer() const noexcept { return info_ ? info_->peer : peer_; }
  std::uint64_t address() const noexcept { return address_; }

  // -- for the protocol -------------------------------------------------------------------------

  transport& wire() noexcept { return wire_; }
  io_worker& home() noexcept { return home_; }
  handler& target() const noexcept { return where_->target; }
  const std::shared_ptr<const connection_info>& info() const noexcept { return info_; }
  time_point now() const noexcept { return home_.loop().now(); }
  // After the protocol was called by somebody else than this connection (an exchange): reads on
  // where it can, flushes, closes what is finished.
  void proceed();
  // A request by `user` was let in or not: who it is, it is.
  void know(const user_info& user) {
    if (stranger != 0) home_.know(*this, user);
  }
  // The answer is a refusal that no handler gave.
  void refused(const request& asked, const response& answer);
  // It is known who asks; until then the connection is a stranger's and gets less
  // (defaults::stranger_…).
  bool known() const noexcept { return known_; }
  std::size_t header_limit_bytes() const noexcept;
  // After a request was looked at; true when it has told for the first time.
  bool recognize(const request& what);
  // A time-out of the protocol has passed.
  void count_time_out() { ++home_.counters().timed_out; }

 private:
  enum class state : std::uint8_t { shaking_hands, open, lingering, closed };

  // When the others of the thread have had theirs.
  void take_another_turn();
  void shake_hands();
  void handshake_failed(std::string_view reason);
  void linger();
  void discard();
  bool stalled();

  io_worker& home_;
  const std::shared_ptr<const site> where_;
  transport wire_;
  std::unique_ptr<protocol> protocol_;
  std::shared_ptr<const connection_info> info_;
  std::string peer_;  // until the handshake is done, then in info_
  const std::uint64_t address_;
  state state_ = state::shaking_hands;
  bool readable_ = false;
  bool draining_ = false;
  bool was_blocked_ = false;
  bool turn_due_ = false;
  bool known_ = false;
  time_point since_;  // of the state; while blocked: of the last progress
  std::uint64_t progress_ = 0;
  std::size_t discarded_bytes_ = 0;
};

}  // namespace troupe::server

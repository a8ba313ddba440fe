// A session of a link over one gRPC call: the part common to both sides. The call is a
// `stream_call`: client_call.cpp has the client's, server_call.cpp the server's.
//
// The mutex guards the state. The call reports reads and writes on gRPC's threads, one of each at a
// time, and `over` last; then it is destroyed. Receivers, acceptors and `finished` are called
// without the lock.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/link/link.hpp"
#include "runtime/link/transport/packets.hpp"
#include "runtime/link/transport/stream.pb.h"

namespace troupe::runtime::link {

// A gRPC call as the session uses it. Never calls the session back from within these functions.
class stream_call {
 public:
  virtual ~stream_call() = default;
  virtual void read(Packet& into) = 0;
  virtual void write(const Packet& packet) = 0;
  // Ends reading and writing. A non-empty refusal is sent to the client instead of success.
  virtual void finish(const std::string& refusal) = 0;
  virtual void cancel() = 0;
  // Calls `heartbeat` of the session once after this time, unless the call is over.
  virtual void heartbeat_after(duration time) = 0;
};

class stream_session final : public session, public std::enable_shared_from_this<stream_session> {
 public:
  struct options {
    bool is_client = false;
    acceptor accept;
    // Called once at the end: whether the handshake completed, and the reason of the end. A
    // client's peer is known only after the handshake.
    std::function<void(bool agreed, const std::string& reason)> finished;
    std::function<void()> agreed;
  };
  explicit stream_session(options options) : options_{std::move(options)} {}

  // -- session ------------------------------------------------------------------------------------

  bool send(std::string frame) override;
  void close(std::string reason) override;
  const peer& other() const override { return other_; }
  session_stats stats() const override;

  // Ends the session at once: queued frames are lost.
  void abort(const std::string& reason);

  // -- from the call ------------------------------------------------------------------------------

  void start(stream_call& call);
  // The peer must be set before the first packet has been read.
  void other(peer peer) { other_ = std::move(peer); }
  void was_read(bool good);
  void was_written(bool good);
  void was_cancelled();
  void heartbeat();
  // `detach`: the call has ended and is no longer used. `over`: it is destroyed; `error` is empty
  // after a regular end.
  void detach();
  void over(const std::string& error);

 private:
  enum class stage { hello, open, ending, over };
  class room;

  // Returns true to continue reading.
  bool on_hello();
  bool take();
  bool refuse(const std::string& reason);
  void agree(std::shared_ptr<receiver> target, Hello reply);
  void release(std::size_t cost);

  // These require the lock.
  void continue_reading();
  void continue_writing();
  void write_packet();
  void end(const std::string& refusal = {});
  void cancel(const std::string& reason);

  options options_;
  peer other_;

  mutable std::mutex mutex_;
  stream_call* call_ = nullptr;
  stage stage_ = stage::hello;
  std::shared_ptr<receiver> target_;
  packer outbox_;
  unpacker inbox_;  // these two are used by the read in flight
  Packet incoming_;
  Packet outgoing_;       // used by the write in flight
  bool reading_ = false;  // until the receiver has processed it
  bool writing_ = false;
  bool bye_sent_ = false;
  bool broken_ = false;  // a client's write has failed: nothing is written any more

  std::optional<std::string> closing_;
  std::string reason_;  // the first reason of the end
  session_stats stats_;
};

}  // namespace troupe::runtime::link

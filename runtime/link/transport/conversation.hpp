// One life of a link over one gRPC call: what both sides have in common. The side itself (the call)
// is a `line`: `calling.cpp` has the caller's, `called.cpp` the other's.
//
// State belongs to the mutex. The line tells of what was read and written on gRPC's threads, one
// call of each at a time, and `over` last, after which it is gone. Receivers, acceptors and the
// owner's `finished` are called without the lock.
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

// One gRPC call, seen from its own side. Never calls back from within.
class line {
 public:
  virtual ~line() = default;
  virtual void read(Packet& into) = 0;
  virtual void write(const Packet& what) = 0;
  // Nothing is read or written any more. With a refusal the caller is told it instead of success.
  virtual void finish(const std::string& refusal) = 0;
  virtual void cancel() = 0;
  // Calls `beat` of the conversation once after this time, unless it is over.
  virtual void beat_after(duration time) = 0;
};

class conversation final : public session, public std::enable_shared_from_this<conversation> {
 public:
  struct parts {
    bool calling = false;
    acceptor accept;
    // Once, at the end: the conversation has come to an agreement with the other side, and why it
    // is over. The caller's knows who the other is only then.
    std::function<void(bool agreed, const std::string& reason)> finished;
    std::function<void()> agreed;
  };
  explicit conversation(parts given) : parts_{std::move(given)} {}

  // -- session ------------------------------------------------------------------------------------

  bool send(std::string frame) override;
  void close(std::string reason) override;
  const peer& other() const override { return other_; }
  session_stats stats() const override;

  // Ends it now: what is queued is lost.
  void abort(const std::string& reason);

  // -- from the line ------------------------------------------------------------------------------

  void begin(line& with);
  // Who the other is must be known before the first packet has been read.
  void other(peer who) { other_ = std::move(who); }
  void was_read(bool good);
  void was_written(bool good);
  void was_cancelled();
  void beat();
  // The line has ended and is not called any more; then, that it is gone: `error` is empty when it
  // ended as it should.
  void leave_line();
  void over(const std::string& error);

 private:
  enum class stage { greeting, open, ending, over };
  class room;

  // True when there is more to read.
  bool greet();
  bool take();
  bool refuse(const std::string& reason);
  void agree(std::shared_ptr<receiver> target, Hello to_say);
  void release(std::size_t cost);

  // With the lock.
  void read_on();
  void write_on();
  void write_packet();
  void end(const std::string& refusal = {});
  void cancel(const std::string& reason);

  parts parts_;
  peer other_;

  mutable std::mutex mutex_;
  line* line_ = nullptr;
  stage stage_ = stage::greeting;
  std::shared_ptr<receiver> target_;
  packer outbox_;
  unpacker inbox_;  // these two belong to the read that is under way
  Packet in_;
  Packet out_;            // and this to the write
  bool reading_ = false;  // until the receiver has it
  bool writing_ = false;
  bool bye_said_ = false;

  std::optional<std::string> closing_;
  std::string reason_;  // the first one of the end
  session_stats stats_;
};

}  // namespace troupe::runtime::link

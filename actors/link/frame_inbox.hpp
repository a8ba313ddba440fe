// The received frames of a link session: they are buffered until the actor that serves the session
// has started, then sent to it as messages.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/actor_ref.hpp"
#include "runtime/link/link.hpp"

namespace troupe::actors {

class frame_inbox;

// To the actor. A delivery counts against the link's window, which therefore bounds this buffer and
// the actor's mailbox together.
struct frame_received {
  std::shared_ptr<const frame_inbox> inbox;
  std::shared_ptr<const runtime::link::delivery> delivery;
};
struct link_ended {
  std::shared_ptr<const frame_inbox> inbox;
  std::string reason;
};

// Thread safe. Its last owner ends the session; its actor ends it by `close`.
class frame_inbox : public std::enable_shared_from_this<frame_inbox> {
 public:
  explicit frame_inbox(runtime::link::session_ptr session) : session_{std::move(session)} {}
  ~frame_inbox();
  frame_inbox(const frame_inbox&) = delete;
  frame_inbox& operator=(const frame_inbox&) = delete;

  const runtime::link::session_ptr& session() const noexcept { return session_; }
  // Sends all buffered and future frames to `reader`. If that actor does not keep up, the session
  // ends.
  void attach(runtime::actor_ref reader);

  // For the link; it keeps the inbox alive only as long as the link keeps the receiver.
  std::shared_ptr<runtime::link::receiver> receiver();

 private:
  class mail_slot;

  void received(runtime::link::delivery delivery);
  void ended(const std::string& reason);

  const runtime::link::session_ptr session_;
  std::mutex mutex_;
  runtime::actor_ref reader_;
  std::vector<std::shared_ptr<const runtime::link::delivery>> early_;
  bool over_ = false;
  std::string reason_;
};

}  // namespace troupe::actors

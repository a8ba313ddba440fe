// A session of a link on its way to the actor that stands for it: frames wait here until the actor
// has begun, and reach it as messages from then on.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/actor_ref.hpp"
#include "runtime/link/link.hpp"

namespace troupe::actors {

class arrival;

// To the actor. A delivery holds its room in the link's window: what waits here and in the actor's
// mailbox is never more than that.
struct frame_arrived {
  std::shared_ptr<const arrival> on;
  std::shared_ptr<const runtime::link::delivery> what;
};
struct link_ended {
  std::shared_ptr<const arrival> on;
  std::string reason;
};

// Thread safe. Whoever lets go of it last ends the session; its actor ends it by `close`.
class arrival : public std::enable_shared_from_this<arrival> {
 public:
  explicit arrival(runtime::link::session_ptr session) : session_{std::move(session)} {}
  ~arrival();
  arrival(const arrival&) = delete;
  arrival& operator=(const arrival&) = delete;

  const runtime::link::session_ptr& session() const noexcept { return session_; }
  // Everything that came so far, and comes from now on, is told to `who`. An actor that does not
  // keep up loses its session.
  void attach(runtime::actor_ref who);

  // For the link; holds the arrival no longer than the link holds the receiver.
  std::shared_ptr<runtime::link::receiver> receiver();

 private:
  class mail_slot;

  void received(runtime::link::delivery what);
  void ended(const std::string& reason);

  const runtime::link::session_ptr session_;
  std::mutex mutex_;
  runtime::actor_ref reader_;
  std::vector<std::shared_ptr<const runtime::link::delivery>> early_;
  bool over_ = false;
  std::string reason_;
};

}  // namespace troupe::actors

#include "actors/link/frame_inbox.hpp"

#include <utility>

namespace troupe::actors {

// The link owns the receiver until the session ends; the receiver has a weak reference.
class frame_inbox::mail_slot final : public runtime::link::receiver {
 public:
  explicit mail_slot(std::weak_ptr<frame_inbox> to) : to_{std::move(to)} {}
  void received(runtime::link::delivery delivery) override {
    if (const auto to = to_.lock()) to->received(std::move(delivery));
  }
  void ended(const std::string& reason) override {
    if (const auto to = to_.lock()) to->ended(reason);
  }

 private:
  const std::weak_ptr<frame_inbox> to_;
};

frame_inbox::~frame_inbox() {
  session_->close("no actor serves the session: call again");
}

std::shared_ptr<runtime::link::receiver> frame_inbox::receiver() {
  return std::make_shared<mail_slot>(weak_from_this());
}

// Sends under the lock, so that new frames stay behind earlier ones. Releases no delivery under it:
// that calls the link, which may call this object.
void frame_inbox::attach(runtime::actor_ref reader) {
  std::vector<std::shared_ptr<const runtime::link::delivery>> early;
  const auto self = shared_from_this();
  std::lock_guard lock{mutex_};
  early = early_;
  early_.clear();
  reader_ = std::move(reader);
  for (const auto& each : early)
    reader_.tell(frame_received{self, each});
  if (over_) reader_.tell(link_ended{self, reason_});
}

void frame_inbox::received(runtime::link::delivery delivery) {
  const auto shared = std::make_shared<const runtime::link::delivery>(std::move(delivery));
  bool taken = true;
  {
    std::lock_guard lock{mutex_};
    if (reader_)
      taken = reader_.tell(frame_received{shared_from_this(), shared});
    else
      early_.push_back(shared);
  }
  if (!taken) session_->close("frames arrive faster than they are handled: call again");
}

void frame_inbox::ended(const std::string& reason) {
  std::lock_guard lock{mutex_};
  over_ = true;
  reason_ = reason;
  if (reader_) reader_.tell(link_ended{shared_from_this(), reason_});
}

}  // namespace troupe::actors

#include "actors/link/arrival.hpp"

#include <utility>

namespace troupe::actors {

// The link holds the receiver until the session has ended; the receiver holds the arrival.
class arrival::mail_slot final : public runtime::link::receiver {
 public:
  explicit mail_slot(std::weak_ptr<arrival> to) : to_{std::move(to)} {}
  void received(runtime::link::delivery what) override {
    if (const auto to = to_.lock()) to->received(std::move(what));
  }
  void ended(const std::string& reason) override {
    if (const auto to = to_.lock()) to->ended(reason);
  }

 private:
  const std::weak_ptr<arrival> to_;
};

arrival::~arrival() {
  session_->close("nobody is there to answer: call again");
}

std::shared_ptr<runtime::link::receiver> arrival::receiver() {
  return std::make_shared<mail_slot>(weak_from_this());
}

// Told under the lock, so that what comes at this moment stays behind what came before. The room of
// a delivery is never given back under it: that calls the link, and the link may call here.
void arrival::attach(runtime::actor_ref who) {
  std::vector<std::shared_ptr<const runtime::link::delivery>> early;
  const auto self = shared_from_this();
  std::lock_guard lock{mutex_};
  early = early_;
  early_.clear();
  reader_ = std::move(who);
  for (const auto& each : early)
    reader_.tell(frame_arrived{self, each});
  if (over_) reader_.tell(link_ended{self, reason_});
}

void arrival::received(runtime::link::delivery what) {
  const auto kept = std::make_shared<const runtime::link::delivery>(std::move(what));
  bool taken = true;
  {
    std::lock_guard lock{mutex_};
    if (reader_)
      taken = reader_.tell(frame_arrived{shared_from_this(), kept});
    else
      early_.push_back(kept);
  }
  if (!taken) session_->close("the frames come faster than they are handled: call again");
}

void arrival::ended(const std::string& reason) {
  std::lock_guard lock{mutex_};
  over_ = true;
  reason_ = reason;
  if (reader_) reader_.tell(link_ended{shared_from_this(), reason_});
}

}  // namespace troupe::actors

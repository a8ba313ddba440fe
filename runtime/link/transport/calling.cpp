#include "runtime/link/transport/calling.hpp"

#include "runtime/link/transport/library.hpp"
#include "runtime/link/transport/line_timer.hpp"
#include "runtime/link/transport/stream.grpc.pb.h"
#include "runtime/link/transport/text.hpp"

namespace troupe::runtime::link {
namespace {

class calling_line final : public line, public grpc::ClientBidiReactor<Packet, Packet> {
 public:
  calling_line(const std::shared_ptr<grpc::Channel>& through, std::shared_ptr<conversation> with)
      : with_{std::move(with)}, other_side_{Link::NewStub(through)} {}

  void start() {
    other_side_->async()->Connect(&call_, this);
    // Reads begin on any thread, whenever the window has room: until `finish` there is more to
    // come.
    AddHold();
    with_->begin(*this);
    StartCall();
  }

  // -- line ---------------------------------------------------------------------------------------

  void read(Packet& into) override { StartRead(&into); }
  void write(const Packet& what) override { StartWrite(&what); }
  void finish(const std::string&) override { RemoveHold(); }
  void cancel() override { call_.TryCancel(); }
  void beat_after(duration time) override {
    timer_.set(time, [with = std::weak_ptr{with_}] {
      if (const auto still = with.lock()) still->beat();
    });
  }

  // -- from gRPC ----------------------------------------------------------------------------------

  void OnReadDone(bool good) override {
    if (good && !known_) {
      auto who = peer_of(*call_.auth_context(), call_.peer());
      if (!who) {
        with_->abort(who.error());
        good = false;
      } else {
        with_->other(std::move(*who));
      }
      known_ = true;
    }
    with_->was_read(good);
  }
  void OnWriteDone(bool good) override { with_->was_written(good); }
  void OnDone(const grpc::Status& how) override {
    const auto with = with_;
    const auto error = explained(how.error_message());
    with->leave_line();
    // First, since it holds the channel: the end of the last one ends gRPC's threads, and this is
    // one of them. The dialer, which hears of the end next, still has it.
    delete this;
    with->over(error);
  }

 private:
  const std::shared_ptr<conversation> with_;
  const std::unique_ptr<Link::Stub> other_side_;
  grpc::ClientContext call_;
  line_timer timer_;
  bool known_ = false;
};

}  // namespace

void call(const std::shared_ptr<grpc::Channel>& through, std::shared_ptr<conversation> with) {
  (new calling_line{through, std::move(with)})->start();
}

}  // namespace troupe::runtime::link

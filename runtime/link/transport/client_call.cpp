#include "runtime/link/transport/client_call.hpp"

#include "runtime/link/transport/call_timer.hpp"
#include "runtime/link/transport/library.hpp"
#include "runtime/link/transport/stream.grpc.pb.h"
#include "runtime/link/transport/text.hpp"

namespace troupe::runtime::link {
namespace {

class client_call final : public stream_call, public grpc::ClientBidiReactor<Packet, Packet> {
 public:
  client_call(const std::shared_ptr<grpc::Channel>& channel,
              std::shared_ptr<stream_session> session)
      : session_{std::move(session)}, stub_{Link::NewStub(channel)} {}

  void start() {
    stub_->async()->Connect(&call_, this);
    // Reads start on any thread whenever the window has room, so the call is held open until
    // `finish`.
    AddHold();
    session_->start(*this);
    StartCall();
  }

  // -- stream_call --------------------------------------------------------------------------------

  void read(Packet& into) override { StartRead(&into); }
  void write(const Packet& packet) override { StartWrite(&packet); }
  void finish(const std::string&) override { RemoveHold(); }
  void cancel() override { call_.TryCancel(); }
  void heartbeat_after(duration time) override {
    timer_.set(time, [session = std::weak_ptr{session_}] {
      if (const auto live = session.lock()) live->heartbeat();
    });
  }

  // -- from gRPC ----------------------------------------------------------------------------------

  void OnReadDone(bool good) override {
    if (good && !peer_known_) {
      auto verified = peer_of(*call_.auth_context(), call_.peer());
      if (!verified) {
        session_->abort(verified.error());
        good = false;
      } else {
        session_->other(std::move(*verified));
      }
      peer_known_ = true;
    }
    session_->was_read(good);
  }
  void OnWriteDone(bool good) override { session_->was_written(good); }
  void OnDone(const grpc::Status& status) override {
    const auto session = session_;
    const auto error = explained(status.error_message());
    session->detach();
    // Deleted first, because it holds the channel: the end of the last channel joins gRPC's
    // threads, and this is one of them. The dialer, which is notified next, still has the channel.
    delete this;
    session->over(error);
  }

 private:
  const std::shared_ptr<stream_session> session_;
  const std::unique_ptr<Link::Stub> stub_;
  grpc::ClientContext call_;
  call_timer timer_;
  bool peer_known_ = false;
};

}  // namespace

void start_client_call(const std::shared_ptr<grpc::Channel>& channel,
                       std::shared_ptr<stream_session> session) {
  (new client_call{channel, std::move(session)})->start();
}

}  // namespace troupe::runtime::link

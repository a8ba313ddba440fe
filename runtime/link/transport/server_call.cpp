#include "runtime/link/transport/server_call.hpp"

#include "runtime/link/transport/call_timer.hpp"

namespace troupe::runtime::link {
namespace {

class server_call final : public stream_call, public grpc::ServerBidiReactor<Packet, Packet> {
 public:
  server_call(grpc::CallbackServerContext& call, std::shared_ptr<stream_session> session)
      : call_{call}, session_{std::move(session)} {
    session_->start(*this);
  }

  // -- stream_call --------------------------------------------------------------------------------

  void read(Packet& into) override { StartRead(&into); }
  void write(const Packet& packet) override { StartWrite(&packet); }
  void finish(const std::string& refusal) override {
    Finish(refusal.empty() ? grpc::Status::OK
                           : grpc::Status{grpc::StatusCode::FAILED_PRECONDITION, refusal});
  }
  void cancel() override { call_.TryCancel(); }
  void heartbeat_after(duration time) override {
    timer_.set(time, [session = std::weak_ptr{session_}] {
      if (const auto live = session.lock()) live->heartbeat();
    });
  }

  // -- from gRPC ----------------------------------------------------------------------------------

  void OnReadDone(bool good) override { session_->was_read(good); }
  void OnWriteDone(bool good) override { session_->was_written(good); }
  void OnCancel() override { session_->was_cancelled(); }
  void OnDone() override {
    const auto session = session_;
    session->detach();
    delete this;
    session->over({});
  }

 private:
  grpc::CallbackServerContext& call_;
  const std::shared_ptr<stream_session> session_;
  call_timer timer_;
};

class refused_call final : public grpc::ServerBidiReactor<Packet, Packet> {
 public:
  explicit refused_call(const std::string& reason) {
    Finish({grpc::StatusCode::FAILED_PRECONDITION, reason});
  }
  void OnDone() override { delete this; }
};

}  // namespace

grpc::ServerBidiReactor<Packet, Packet>* start_server_call(
    grpc::CallbackServerContext& call, std::shared_ptr<stream_session> session) {
  return new server_call{call, std::move(session)};
}

grpc::ServerBidiReactor<Packet, Packet>* refuse_call(const std::string& reason) {
  return new refused_call{reason};
}

}  // namespace troupe::runtime::link

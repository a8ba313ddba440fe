#include "runtime/link/transport/called.hpp"

#include "runtime/link/transport/line_timer.hpp"

namespace troupe::runtime::link {
namespace {

class called_line final : public line, public grpc::ServerBidiReactor<Packet, Packet> {
 public:
  called_line(grpc::CallbackServerContext& call, std::shared_ptr<conversation> with)
      : call_{call}, with_{std::move(with)} {
    with_->begin(*this);
  }

  // -- line ---------------------------------------------------------------------------------------

  void read(Packet& into) override { StartRead(&into); }
  void write(const Packet& what) override { StartWrite(&what); }
  void finish(const std::string& refusal) override {
    Finish(refusal.empty() ? grpc::Status::OK
                           : grpc::Status{grpc::StatusCode::FAILED_PRECONDITION, refusal});
  }
  void cancel() override { call_.TryCancel(); }
  void beat_after(duration time) override {
    timer_.set(time, [with = std::weak_ptr{with_}] {
      if (const auto still = with.lock()) still->beat();
    });
  }

  // -- from gRPC ----------------------------------------------------------------------------------

  void OnReadDone(bool good) override { with_->was_read(good); }
  void OnWriteDone(bool good) override { with_->was_written(good); }
  void OnCancel() override { with_->was_cancelled(); }
  void OnDone() override {
    const auto with = with_;
    with->leave_line();
    delete this;
    with->over({});
  }

 private:
  grpc::CallbackServerContext& call_;
  const std::shared_ptr<conversation> with_;
  line_timer timer_;
};

class closed_line final : public grpc::ServerBidiReactor<Packet, Packet> {
 public:
  explicit closed_line(const std::string& reason) {
    Finish({grpc::StatusCode::FAILED_PRECONDITION, reason});
  }
  void OnDone() override { delete this; }
};

}  // namespace

grpc::ServerBidiReactor<Packet, Packet>* be_called(grpc::CallbackServerContext& call,
                                                   std::shared_ptr<conversation> with) {
  return new called_line{call, std::move(with)};
}

grpc::ServerBidiReactor<Packet, Packet>* turn_away(const std::string& reason) {
  return new closed_line{reason};
}

}  // namespace troupe::runtime::link

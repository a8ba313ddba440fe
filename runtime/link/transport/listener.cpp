#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <unordered_set>

#include "runtime/link/defaults.hpp"
#include "runtime/link/transport/called.hpp"
#include "runtime/link/transport/certificate.hpp"
#include "runtime/link/transport/doorway.hpp"
#include "runtime/link/transport/library.hpp"
#include "runtime/link/transport/start.hpp"
#include "runtime/link/transport/stream.grpc.pb.h"

namespace troupe::runtime::link {
namespace {

class grpc_listener final : public listener, private Link::CallbackService {
 public:
  explicit grpc_listener(listener_options options) : options_{std::move(options)} {}

  // The sessions say goodbye, then the server cancels those that did not end.
  ~grpc_listener() override {
    if (doorway_) doorway_->close();
    std::unique_lock lock{mutex_};
    closing_ = true;
    const std::vector<std::shared_ptr<conversation>> left{sessions_.begin(), sessions_.end()};
    lock.unlock();
    for (const auto& one : left)
      one->close("the other side stops");
    lock.lock();
    changed_.wait_for(lock, defaults::linger, [this] { return sessions_.empty(); });
    lock.unlock();
    if (server_) server_->Shutdown(gpr_now(GPR_CLOCK_MONOTONIC));
    lock.lock();
    changed_.wait(lock, [this] { return sessions_.empty(); });
  }

  tl::expected<void, std::string> start() {
    if (const auto usable = check(options_.credentials()); !usable)
      return tl::make_unexpected(usable.error());
    auto made = doorway::open(
        {options_.listen, options_.connections, [this](int socket) { hand_over(socket); }});
    if (!made) return tl::make_unexpected(made.error());
    doorway_ = std::move(*made);
    where_ = doorway_->where();
    use_library();
    credentials_ = make_server_credentials(options_.credentials);
    grpc::ServerBuilder builder;
    set_up(builder);
    builder.RegisterService(static_cast<Link::CallbackService*>(this));
    server_side_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials_);
    server_ = builder.BuildAndStart();
    if (!server_) return tl::make_unexpected(std::string{"gRPC cannot use the link's certificate"});
    doorway_->start();
    return {};
  }

  address where() const override { return where_; }

 private:
  // On the doorway's thread.
  void hand_over(int socket) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = socket;
    server_side_->HandleNewConnection(&connection);
  }

  grpc::ServerBidiReactor<Packet, Packet>* Connect(grpc::CallbackServerContext* call) override {
    auto who = peer_of(*call->auth_context(), call->peer());
    if (!who) return turn_away(who.error());
    const auto from = who->address;
    conversation::parts parts;
    parts.accept = options_.accept;
    parts.agreed = [this, from] { doorway_->settled(from, true); };
    const auto made = std::make_shared<std::weak_ptr<conversation>>();
    parts.finished = [this, from, made](bool, const std::string&) {
      doorway_->settled(from, false);
      forget(made->lock());
    };
    auto talk = std::make_shared<conversation>(std::move(parts));
    *made = talk;
    talk->other(std::move(*who));
    {
      std::lock_guard lock{mutex_};
      if (closing_) return turn_away("the other side stops");
      sessions_.insert(talk);
    }
    return be_called(*call, std::move(talk));
  }

  void forget(const std::shared_ptr<conversation>& which) {
    // Told under the lock: with the last one gone the destructor goes on.
    std::lock_guard lock{mutex_};
    sessions_.erase(which);
    changed_.notify_all();
  }

  const listener_options options_;
  address where_;
  std::unique_ptr<doorway> doorway_;
  std::shared_ptr<grpc::ServerCredentials> credentials_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> server_side_;
  std::unique_ptr<grpc::Server> server_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_set<std::shared_ptr<conversation>> sessions_;
  bool closing_ = false;
};

}  // namespace

tl::expected<std::unique_ptr<listener>, std::string> start_listener(listener_options options) {
  auto made = std::make_unique<grpc_listener>(std::move(options));
  if (const auto started = made->start(); !started) return tl::make_unexpected(started.error());
  return made;
}

}  // namespace troupe::runtime::link

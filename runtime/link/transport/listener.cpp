#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <unordered_set>

#include "runtime/link/defaults.hpp"
#include "runtime/link/transport/certificate.hpp"
#include "runtime/link/transport/connection_acceptor.hpp"
#include "runtime/link/transport/library.hpp"
#include "runtime/link/transport/server_call.hpp"
#include "runtime/link/transport/start.hpp"
#include "runtime/link/transport/stream.grpc.pb.h"
#include "runtime/link/transport/text.hpp"

namespace troupe::runtime::link {
namespace {

class grpc_listener final : public listener, private Link::CallbackService {
 public:
  explicit grpc_listener(listener_options options) : options_{std::move(options)} {}

  // Closes the sessions, then the server cancels the remaining ones.
  ~grpc_listener() override {
    if (acceptor_) acceptor_->close();
    std::unique_lock lock{mutex_};
    closing_ = true;
    const std::vector<std::shared_ptr<stream_session>> left{sessions_.begin(), sessions_.end()};
    lock.unlock();
    for (const auto& one : left)
      one->close("the peer is shutting down");
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
    auto made =
        connection_acceptor::open({options_.listen, options_.connections,
                                   [this](int socket) { connected(socket); }, options_.refused});
    if (!made) return tl::make_unexpected(made.error());
    acceptor_ = std::move(*made);
    address_ = acceptor_->address();
    use_library();
    credentials_ = make_server_credentials(options_.credentials);
    grpc::ServerBuilder builder;
    set_up(builder);
    builder.RegisterService(static_cast<Link::CallbackService*>(this));
    server_side_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, credentials_);
    server_ = builder.BuildAndStart();
    if (!server_) return tl::make_unexpected(std::string{"gRPC cannot use the link's certificate"});
    acceptor_->start();
    return {};
  }

  link::address address() const override { return address_; }
  listener_stats stats() const override { return acceptor_->stats(); }

 private:
  // Called on the acceptor's thread.
  void connected(int socket) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
    connection.fd = socket;
    server_side_->HandleNewConnection(&connection);
  }

  grpc::ServerBidiReactor<Packet, Packet>* Connect(grpc::CallbackServerContext* call) override {
    auto verified = peer_of(*call->auth_context(), call->peer());
    if (!verified) {
      acceptor_->refused(address_of(call->peer()), verified.error());
      return refuse_call(verified.error());
    }
    const auto from = verified->address;
    stream_session::options settings;
    settings.accept = options_.accept;
    settings.agreed = [this, from] { acceptor_->settled(from, true); };
    const auto made = std::make_shared<std::weak_ptr<stream_session>>();
    settings.finished = [this, from, made](bool agreed, const std::string& reason) {
      if (agreed)
        acceptor_->settled(from, false);
      else if (!closing())
        acceptor_->refused(from, reason);
      forget(made->lock());
    };
    auto session = std::make_shared<stream_session>(std::move(settings));
    *made = session;
    session->other(std::move(*verified));
    {
      std::lock_guard lock{mutex_};
      if (closing_) return refuse_call("the peer is shutting down");
      sessions_.insert(session);
    }
    return start_server_call(*call, std::move(session));
  }

  bool closing() {
    std::lock_guard lock{mutex_};
    return closing_;
  }

  void forget(const std::shared_ptr<stream_session>& session) {
    // Notifies under the lock: after the last session the destructor continues.
    std::lock_guard lock{mutex_};
    sessions_.erase(session);
    changed_.notify_all();
  }

  const listener_options options_;
  link::address address_;
  std::unique_ptr<connection_acceptor> acceptor_;
  std::shared_ptr<grpc::ServerCredentials> credentials_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> server_side_;
  std::unique_ptr<grpc::Server> server_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_set<std::shared_ptr<stream_session>> sessions_;
  bool closing_ = false;
};

}  // namespace

tl::expected<std::unique_ptr<listener>, std::string> start_listener(listener_options options) {
  auto made = std::make_unique<grpc_listener>(std::move(options));
  if (const auto started = made->start(); !started) return tl::make_unexpected(started.error());
  return made;
}

}  // namespace troupe::runtime::link

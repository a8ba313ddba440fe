// One renewal of a lease: opens etcd's keep-alive stream for one request and one response.
#pragma once

#include "persistence/etcd/client/calls.hpp"
#include "persistence/etcd/client/etcd.grpc.pb.h"

namespace troupe::persistence::etcd {

class keep_alive_call final : public tag {
 public:
  // `done`: the status, and the time to live in seconds (0: the lease has expired).
  keep_alive_call(call_queue& queue, std::int64_t lease,
                  std::function<void(const grpc::Status&, std::int64_t)> done);
  void start(etcdserverpb::Lease::Stub& service, std::chrono::milliseconds limit,
             grpc::CompletionQueue& queue);

  bool happened(bool ok) override;
  void cancel() override { context_.TryCancel(); }

 private:
  enum class stage { starting, asking, reading, finishing };

  call_queue& queue_;
  const std::function<void(const grpc::Status&, std::int64_t)> done_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientAsyncReaderWriter<etcdserverpb::LeaseKeepAliveRequest,
                                                etcdserverpb::LeaseKeepAliveResponse>>
      stream_;
  etcdserverpb::LeaseKeepAliveRequest request_;
  etcdserverpb::LeaseKeepAliveResponse response_;
  grpc::Status status_;
  stage stage_ = stage::starting;
  bool answered_ = false;
};

}  // namespace troupe::persistence::etcd

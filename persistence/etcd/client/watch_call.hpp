// A watch of etcd's whole key space, from a revision on, delivered as whole steps.
#pragma once

#include "persistence/etcd/client/calls.hpp"
#include "persistence/etcd/client/etcd.grpc.pb.h"
#include "persistence/replica/shared_log.hpp"

namespace troupe::persistence::etcd {

class watch_call final : public tag {
 public:
  struct ends {
    // Return false to stop the watch; then `ended` is not called.
    std::function<bool(std::vector<log_step>)> steps;
    // Called once, last, unless `steps` returned false. `compacted` as in log_reader.
    std::function<void(error)> ended;
  };

  watch_call(call_queue& queue, ends to) : queue_{queue}, to_{std::move(to)} {}
  void start(etcdserverpb::Watch::Stub& service, revision after, grpc::CompletionQueue& queue);

  bool happened(bool ok) override;
  void cancel() override { context_.TryCancel(); }

 private:
  enum class stage { starting, asking, reading, finishing };

  bool take();
  bool finish();

  call_queue& queue_;
  const ends to_;
  grpc::ClientContext context_;
  std::unique_ptr<
      grpc::ClientAsyncReaderWriter<etcdserverpb::WatchRequest, etcdserverpb::WatchResponse>>
      stream_;
  etcdserverpb::WatchRequest request_;
  etcdserverpb::WatchResponse response_;
  grpc::Status status_;
  stage stage_ = stage::starting;
  std::vector<log_step> steps_;  // of a fragmented response
  std::optional<error> reason_;
  bool silent_ = false;
};

}  // namespace troupe::persistence::etcd

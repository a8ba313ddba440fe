#include "persistence/etcd/client/keep_alive_call.hpp"

#include <utility>

namespace troupe::persistence::etcd {

keep_alive_call::keep_alive_call(call_queue& queue, std::int64_t lease,
                                 std::function<void(const grpc::Status&, std::int64_t)> done)
    : queue_{queue}, done_{std::move(done)} {
  request_.set_id(lease);
}

void keep_alive_call::start(etcdserverpb::Lease::Stub& service, std::chrono::milliseconds limit,
                            grpc::CompletionQueue& queue) {
  context_.set_deadline(std::chrono::system_clock::now() + limit);
  stream_ = service.PrepareAsyncLeaseKeepAlive(&context_, &queue);
  stream_->StartCall(static_cast<tag*>(this));
}

bool keep_alive_call::happened(bool ok) {
  if (stage_ == stage::finishing) {
    if (!queue_.closing()) done_(answered_ ? grpc::Status::OK : status_, response_.ttl());
    return true;
  }
  if (ok && stage_ == stage::starting) {
    stage_ = stage::asking;
    stream_->Write(request_, static_cast<tag*>(this));
    return false;
  }
  if (ok && stage_ == stage::asking) {
    stage_ = stage::reading;
    stream_->Read(&response_, static_cast<tag*>(this));
    return false;
  }
  answered_ = ok && stage_ == stage::reading;
  stage_ = stage::finishing;
  context_.TryCancel();
  stream_->Finish(&status_, static_cast<tag*>(this));
  return false;
}

}  // namespace troupe::persistence::etcd

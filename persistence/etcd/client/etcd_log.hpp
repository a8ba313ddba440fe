// shared_log on etcd. One member is used at a time, for transactions and for the watch; when it
// fails, the next.
//
// What etcd 3.4.23 (Debian 12) gets wrong and what stands against it: steps may come twice, or be
// of a member that is behind (the reader sees revisions; a member is asked for its revision before
// it is watched).
#pragma once

#include <mutex>

#include "persistence/etcd/client/calls.hpp"
#include "persistence/etcd/client/etcd.grpc.pb.h"
#include "persistence/etcd/etcd.hpp"

namespace troupe::persistence::etcd {

class etcd_log final : public shared_log {
 public:
  static expected<std::unique_ptr<shared_log>> open(const etcd_options& options);

  void submit(log_transaction request, std::function<void(log_answer)> done) override;
  void newest(std::function<void(expected<revision>)> done) override;
  void follow(revision after, log_reader& reader) override;
  void list(std::string after, revision at, std::function<void(expected<log_page>)> done) override;
  void grant(std::chrono::seconds time_to_live,
             std::function<void(expected<lease_id>)> done) override;
  void renew(lease_id lease, std::function<void(expected<std::chrono::seconds>)> done) override;
  void revoke(lease_id lease) override;
  void call_later(std::chrono::milliseconds delay, std::function<void()> work) override;

 private:
  struct member {
    std::string endpoint;
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<etcdserverpb::KV::Stub> kv;
    std::unique_ptr<etcdserverpb::Watch::Stub> watch;
    std::unique_ptr<etcdserverpb::Lease::Stub> lease;
  };
  using range_done = std::function<void(const grpc::Status&, etcdserverpb::RangeResponse&)>;

  etcd_log(etcd_options options, std::vector<member> members);

  member& current();
  // Somebody else's turn, unless another call has found that already.
  void leave(const member& failed, const std::string& reason);
  void range(member& of, const etcdserverpb::RangeRequest& request, range_done done);
  void watch(member& of, revision after, log_reader& reader, std::uint64_t serial);

  const etcd_options options_;
  std::vector<member> members_;
  std::mutex mutex_;
  std::size_t current_ = 0;
  std::atomic<std::uint64_t> watch_serial_{0};  // of the newest follow()
  call_queue queue_;                            // last: its thread ends first
};

}  // namespace troupe::persistence::etcd

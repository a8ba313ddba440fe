// The implementation of shared_log on etcd. Transactions and the watch use one member at a time;
// when it fails, they move to the next.
//
// A channel of gRPC keeps its credentials. When the files have changed, new channels replace all
// old ones, if a member answers over its new one; an old one lives until its last call ends, as the
// watch.
//
// Faults of etcd 3.4.23 (Debian 12) and the countermeasures: a watch may deliver steps twice (the
// reader compares revisions), or its member may be behind (a member is asked for its revision
// before it is watched).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "persistence/etcd/client/calls.hpp"
#include "persistence/etcd/client/credential_watch.hpp"
#include "persistence/etcd/client/credentials.hpp"
#include "persistence/etcd/client/etcd.grpc.pb.h"
#include "persistence/etcd/client/requests.hpp"
#include "persistence/etcd/etcd.hpp"

namespace troupe::persistence::etcd {

class etcd_log final : public shared_log {
 public:
  static expected<std::unique_ptr<shared_log>> open(const etcd_options& options);

  void close() override;
  void identity(std::function<void(expected<std::string>)> done) override;
  void submit(log_transaction request, std::function<void(log_answer)> done) override;
  void newest(std::function<void(expected<revision>)> done) override;
  void follow(revision after, log_reader& reader) override;
  void read(std::string key, std::function<void(expected<std::optional<log_item>>)> done) override;
  void list(log_range range, std::function<void(expected<log_page>)> done) override;
  void grant(std::chrono::seconds time_to_live,
             std::function<void(expected<lease_id>)> done) override;
  void renew(lease_id lease, std::chrono::milliseconds limit,
             std::function<void(expected<std::chrono::seconds>)> done) override;
  void revoke(lease_id lease, std::function<void()> done) override;
  void compact(revision up_to, std::function<void(expected<void>)> done) override;
  void call_later(std::chrono::milliseconds delay, std::function<void()> work) override;

 private:
  struct member {
    std::string endpoint;
    std::shared_ptr<grpc::Channel> channel;
    std::unique_ptr<etcdserverpb::KV::Stub> kv;
    std::unique_ptr<etcdserverpb::Watch::Stub> watch;
    std::unique_ptr<etcdserverpb::Lease::Stub> lease;
  };
  using member_ptr = std::shared_ptr<const member>;
  using range_done = std::function<void(const grpc::Status&, etcdserverpb::RangeResponse&)>;

  static expected<std::vector<member_ptr>> connect(const std::vector<std::string>& endpoints,
                                                   const credentials& shown);
  etcd_log(etcd_options options, std::vector<member_ptr> members);

  member_ptr current();
  // Moves to the next member, unless another call has already done so, or the member has a new
  // channel.
  void leave(const member& failed, const std::string& reason);
  // Replaces the channels, if the current member answers over its new one.
  expected<void> use(const credentials& shown, const std::stop_token& stop);
  expected<void> try_out(const member& with, const std::stop_token& stop) const;
  // A response of another cluster than that of identity() is an error.
  void range(const member_ptr& of, const etcdserverpb::RangeRequest& request, range_done done);
  void list_page(const etcdserverpb::RangeRequest& request,
                 std::function<void(expected<log_page>)> done);
  void watch(const member_ptr& of, revision after, log_reader& reader, std::uint64_t serial);

  const etcd_options options_;
  std::mutex mutex_;
  std::vector<member_ptr> members_;
  std::size_t current_ = 0;
  std::atomic<std::int64_t> page_items_{page_limit};  // of the next list()
  // State of the queue's thread.
  std::uint64_t watch_serial_ = 0;  // of the newest follow()
  bool watching_ = false;
  std::uint64_t cluster_ = 0;  // etcd's id of the cluster; 0: not known yet
  // Last, since their threads must end first; that of `files_` first of all.
  call_queue queue_;
  std::optional<credential_watch> files_;  // if there are credentials
};

}  // namespace troupe::persistence::etcd

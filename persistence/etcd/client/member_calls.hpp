// The implementation of etcd_members: blocking calls.
#pragma once

#include <map>

#include "persistence/etcd/client/etcd.grpc.pb.h"
#include "persistence/etcd/members.hpp"

namespace troupe::persistence::etcd {

class member_calls final : public etcd_members {
 public:
  static expected<std::unique_ptr<etcd_members>> open(const etcd_options& options);

  expected<std::vector<etcd_member>> list() override;
  expected<etcd_member_status> status(const std::string& endpoint) override;
  expected<std::uint64_t> add_learner(const std::string& peer_url) override;
  expected<void> promote(std::uint64_t id) override;
  expected<void> remove(std::uint64_t id) override;

 private:
  explicit member_calls(etcd_options options) : options_{std::move(options)} {}

  expected<std::shared_ptr<grpc::Channel>> channel(const std::string& endpoint);
  // Tries one member after the other, until one has answered.
  template <class Request, class Response>
  expected<Response> call(const Request& request,
                          grpc::Status (etcdserverpb::Cluster::Stub::*method)(grpc::ClientContext*,
                                                                              const Request&,
                                                                              Response*));

  const etcd_options options_;
  std::map<std::string, std::shared_ptr<grpc::Channel>> channels_;
};

}  // namespace troupe::persistence::etcd

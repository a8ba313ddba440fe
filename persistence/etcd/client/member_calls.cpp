#include "persistence/etcd/client/member_calls.hpp"

#include <spdlog/fmt/fmt.h>

#include "persistence/etcd/client/channel.hpp"

namespace troupe::persistence::etcd {

namespace {

etcd_member read(const etcdserverpb::Member& from) {
  return {.id = from.id(),
          .name = from.name(),
          .peer_urls = {from.peerurls().begin(), from.peerurls().end()},
          .client_urls = {from.clienturls().begin(), from.clienturls().end()},
          .is_learner = from.islearner()};
}

// Errors after which another member may succeed. A learner refuses every request here.
bool try_another(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE ||
         status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ||
         status.error_message().find("learner does not support") != std::string::npos ||
         status.error_message().find("rpc not supported for learner") != std::string::npos;
}

error error_at(const std::string& endpoint, const grpc::Status& status) {
  const bool is_lost = try_another(status);
  return {is_lost ? errc::io : errc::invalid,
          fmt::format("etcd at {}: {}", endpoint, status.error_message())};
}

}  // namespace

expected<std::unique_ptr<etcd_members>> member_calls::open(const etcd_options& options) {
  if (options.endpoints.empty()) return fail(errc::invalid, "no etcd endpoint is given");
  std::unique_ptr<member_calls> made{new member_calls{options}};
  for (const auto& each : options.endpoints)
    if (auto good = made->channel(each); !good) return fail(std::move(good.error()));
  return made;
}

expected<std::shared_ptr<grpc::Channel>> member_calls::channel(const std::string& endpoint) {
  if (const auto known = channels_.find(endpoint); known != channels_.end()) return known->second;
  auto made = dial(endpoint, options_);
  if (made) channels_.emplace(endpoint, *made);
  return made;
}

template <class Request, class Response>
expected<Response> member_calls::call(const Request& request,
                                      grpc::Status (etcdserverpb::Cluster::Stub::*method)(
                                          grpc::ClientContext*, const Request&, Response*)) {
  error last{errc::io, "no member of etcd answers"};
  for (const auto& each : options_.endpoints) {
    const auto to = channel(each);
    if (!to) return fail(to.error());
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + options_.read_limit);
    Response response;
    etcdserverpb::Cluster::Stub service{*to};
    const auto status = (service.*method)(&context, request, &response);
    if (status.ok()) return response;
    last = error_at(each, status);
    if (!try_another(status)) break;
  }
  return fail(std::move(last));
}

expected<std::vector<etcd_member>> member_calls::list() {
  const auto found =
      call(etcdserverpb::MemberListRequest{}, &etcdserverpb::Cluster::Stub::MemberList);
  if (!found) return fail(found.error());
  std::vector<etcd_member> members;
  for (const auto& each : found->members())
    members.push_back(read(each));
  return members;
}

expected<etcd_member_status> member_calls::status(const std::string& endpoint) {
  const auto to = channel(endpoint);
  if (!to) return fail(to.error());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + options_.read_limit);
  etcdserverpb::StatusResponse found;
  etcdserverpb::Maintenance::Stub service{*to};
  const auto status = service.Status(&context, {}, &found);
  if (!status.ok()) return fail(error_at(endpoint, status));
  return etcd_member_status{.version = found.version(),
                            .member = found.header().member_id(),
                            .leader = found.leader(),
                            .raft_index = found.raftindex(),
                            .size_bytes = found.dbsize(),
                            .is_learner = found.islearner(),
                            .errors = {found.errors().begin(), found.errors().end()}};
}

expected<std::uint64_t> member_calls::add_learner(const std::string& peer_url) {
  etcdserverpb::MemberAddRequest request;
  request.add_peerurls(peer_url);
  request.set_islearner(true);
  auto made = call(request, &etcdserverpb::Cluster::Stub::MemberAdd);
  if (made) return made->member().id();
  if (made.error().message.find("Peer URLs already exists") == std::string::npos)
    return fail(std::move(made.error()));
  // The request may have succeeded although its answer was lost.
  if (const auto found = list(); found)
    for (const auto& each : *found)
      if (each.name.empty() && each.is_learner && each.peer_urls == std::vector{peer_url})
        return each.id;
  return fail(std::move(made.error()));
}

expected<void> member_calls::promote(std::uint64_t id) {
  etcdserverpb::MemberPromoteRequest request;
  request.set_id(id);
  const auto done = call(request, &etcdserverpb::Cluster::Stub::MemberPromote);
  if (!done) return fail(done.error());
  return {};
}

expected<void> member_calls::remove(std::uint64_t id) {
  etcdserverpb::MemberRemoveRequest request;
  request.set_id(id);
  const auto done = call(request, &etcdserverpb::Cluster::Stub::MemberRemove);
  // The request may have succeeded although its answer was lost.
  if (!done && done.error().message.find("member not found") == std::string::npos)
    return fail(done.error());
  return {};
}

}  // namespace troupe::persistence::etcd

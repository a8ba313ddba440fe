#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <system_error>
#include <thread>

#include "actors/api_servers/api_endpoints.hpp"
#include "actors/defaults.hpp"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "server/credentials/kubeconfig.hpp"
#include "server/credentials/private_file.hpp"
#include "server/join/flat_json.hpp"
#include "tools/client/node_client.hpp"
#include "tools/join/control_plane_join.hpp"
#include "tools/join/leave.hpp"
#include "tools/node/node_folder.hpp"
#include "tools/node/node_options.hpp"

namespace troupe::tools {

namespace fs = std::filesystem;
using api::coordination::v1::Lease;
using api::core::v1::Endpoints;
using api::core::v1::Node;
using std::chrono::steady_clock;

namespace {

using result = tl::expected<void, std::string>;
using client_result = tl::expected<std::unique_ptr<cluster_client>, std::string>;

// A client with the administrator's credentials, at that address.
client_result connect_as_admin(const fs::path& data_dir, const std::string& address) {
  const auto pki = data_dir / "pki";
  server::cluster_access access;
  access.server = "https://" + address;
  for (const auto& [into, name] : {std::pair{&access.authority, "ca.crt"},
                                   {&access.certificate, "admin.crt"},
                                   {&access.private_key, "admin.key"}}) {
    auto text = server::read_private_file(pki / name);
    if (!text) return tl::make_unexpected(text.error());
    *into = text->value_or("");
  }
  auto made = node_client::make(access);
  if (!made) return tl::make_unexpected(made.error());
  return std::move(*made);
}

tl::expected<server::flat_json, std::string> facts_of(cluster_client& to) {
  const auto answer = to.call({.path = "/troupe/v1/cluster", .body = {}});
  if (!answer) return tl::make_unexpected(answer.error());
  if (answer->status != 200) return tl::make_unexpected(refusal(*answer));
  return server::read_flat_json(answer->body);
}

// The control planes except the one with that name.
tl::expected<actors::api_server_records, std::string> others(cluster_client& to,
                                                             const std::string& name) {
  const auto found = get_object(to, api::kind_of<Endpoints>(), actors::api_service_namespace,
                                actors::api_service_name);
  if (!found) return tl::make_unexpected(found.error());
  actors::api_server_records all;
  if (*found) {
    const auto& annotations = api::meta_of(**found).annotations();
    const auto text = annotations.find(std::string{actors::api_servers_annotation});
    if (text != annotations.end()) all = actors::read_api_servers(text->second);
  }
  std::erase_if(all, [&](const auto& each) { return each.name == name; });
  return all;
}

// Cordons its node and evicts its pods; returns when none is left.
result drain(cluster_client& to, const std::string& node, const leave_options& options,
             const std::function<void(const std::string&)>& progress) {
  const auto end = steady_clock::now() + options.timeout;
  std::string reported;
  for (;;) {
    const auto now = request_leave(to, node, false);
    if (!now) return tl::make_unexpected(now.error().message);
    if (now->gone || now->left == "0") return {};
    if (now->pods != reported)
      progress(fmt::format("waiting for {} pods to end: {}", now->left, reported = now->pods));
    if (steady_clock::now() >= end)
      return tl::make_unexpected(
          fmt::format("{} pods of node {} have not ended in time ({}); it stays cordoned: leave "
                      "again, with a longer --timeout, or with --force",
                      now->left, node, now->pods));
    std::this_thread::sleep_for(join_defaults::leave_poll);
  }
}

// Through another control plane, after the process here has ended and cannot create it again.
result remove_node(const fs::path& data_dir, const std::string& node,
                   const actors::api_server_records& through) {
  std::string reason;
  for (const auto& each : through) {
    const auto to = connect_as_admin(data_dir, each.api);
    if (!to) return tl::make_unexpected(to.error());
    const auto gone = [&](const std::string& path) {
      const auto answer = (*to)->call({.method = "DELETE", .path = path, .body = {}});
      const bool done = answer && (answer->status < 300 || answer->status == 404);
      if (!done) reason = answer ? refusal(*answer) : answer.error();
      return done;
    };
    if (gone(path_of(api::kind_of<Node>(), {}, node)) &&
        gone(path_of(api::kind_of<Lease>(), actors::defaults::node_lease_namespace, node)) &&
        gone(path_of(api::kind_of<Lease>(), actors::api_server_namespace,
                     actors::api_server_lease(node))))
      return {};
  }
  return tl::make_unexpected(
      fmt::format("node {} is not removed from the cluster: {}; its process has ended: try kubectl "
                  "delete node {} at another control plane, then leave with --force",
                  node, reason, node));
}

// Removes the keys last: until then, leaving can continue after an interruption.
result remove_files(const fs::path& data_dir) {
  std::error_code problem;
  for (const auto* each :
       {"store", "etcd", "joining", "root-dir", "admin.kubeconfig", "control-plane.json", "pki"}) {
    fs::remove_all(data_dir / each, problem);
    if (problem)
      return tl::make_unexpected((data_dir / each).string() +
                                 ": cannot be removed: " + problem.message());
  }
  return {};
}

struct refused_leave {
  std::string message;
  bool may_be_forced = false;
};

refused_leave not_a_member(const fs::path& data_dir) {
  return {fmt::format("data dir {}: has joined no cluster; name the right one with --data-dir",
                      data_dir.string())};
}

// Leaves the cluster. With --force the local files may be removed although the cluster cannot be
// reached, but only if the state is known to be stored elsewhere.
tl::expected<void, refused_leave> leave_cluster(
    const leave_options& options, const std::function<void(const std::string&)>& progress) {
  const bool joined = has_joined_as_control_plane(options.data_dir);
  const auto fail = [&](std::string reason) {
    return tl::make_unexpected(refused_leave{std::move(reason), joined});
  };
  const auto kept = server::read_kubeconfig(options.data_dir / "admin.kubeconfig");
  if (!kept) return fail(kept.error());
  const auto own = node_client::make(*kept);
  if (!own) return fail(own.error());
  const auto facts = facts_of(**own);
  if (!facts)
    return fail("the control plane here does not answer: " + facts.error() +
                "; start it and leave again" +
                (joined ? ", or use --force to remove the local data only"
                        : ", or use --force to end its pods and remove its rules"));
  const auto node = server::member(*facts, "nodeName");
  if (node.empty()) return tl::make_unexpected(not_a_member(options.data_dir));
  const auto rest = others(**own, node);
  if (!rest) return fail(rest.error());
  if (rest->empty())
    return tl::make_unexpected(refused_leave{fmt::format(
        "{} is the only control plane of its cluster: with it the cluster ends; to end it, stop "
        "the node, end its pods with troupe leave --force, and remove its data dir",
        node)});
  if (!options.force)
    if (auto done = drain(**own, node, options, progress); !done) return fail(done.error());
  if (auto ended = end_process(options, false); !ended) return fail(ended.error());
  if (auto removed = remove_node(options.data_dir, node, *rest); !removed)
    return fail(removed.error());
  return {};
}

// Containers and memory volumes outlive a process that was killed: without this only another start
// of the node would end them. The state is not removed: nobody else may have it.
result end_what_runs_here(const leave_options& options,
                          const std::function<void(const std::string&)>& progress) {
  if (auto ended = end_pods(saved_root_dir(options.data_dir)); !ended) return ended;
  if (auto removed = actors::remove_network(network_markers(options.data_dir)); !removed)
    return removed;
  progress(
      fmt::format("this machine runs no pods any more; the cluster's state stays in {}: start the "
                  "node again, or remove the folder to end the cluster",
                  options.data_dir.string()));
  return {};
}

}  // namespace

bool is_control_plane(const fs::path& data_dir) {
  std::error_code ignored;
  return fs::exists(data_dir / "pki", ignored);
}

result leave_as_control_plane(const leave_options& options,
                              const std::function<void(const std::string&)>& progress) {
  if (options.force && !has_joined_as_control_plane(options.data_dir) &&
      !node_folder::holder(options.data_dir))
    return end_what_runs_here(options, progress);
  if (auto done = leave_cluster(options, progress); !done) {
    if (!options.force || !done.error().may_be_forced)
      return tl::make_unexpected(done.error().message);
    progress("the cluster was not informed: " + done.error().message);
  }
  if (auto ended = end_process(options, false); !ended) return ended;
  if (auto ended = end_pods(saved_root_dir(options.data_dir)); !ended) return ended;
  if (auto removed = actors::remove_network(network_markers(options.data_dir)); !removed)
    return removed;
  return remove_files(options.data_dir);
}

}  // namespace troupe::tools

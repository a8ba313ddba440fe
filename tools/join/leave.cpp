#include "tools/join/leave.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "actors/kubelet/runtimes/cri/leftover_sandboxes.hpp"
#include "actors/kubelet/runtimes/process/leftover_pods.hpp"
#include "server/join/flat_json.hpp"
#include "server/join/join_authorizer.hpp"
#include "tools/client/cluster_client.hpp"
#include "tools/join/credentials.hpp"
#include "tools/join/enrolment.hpp"
#include "tools/node/node_folder.hpp"
#include "tools/node/node_options.hpp"

namespace troupe::tools {

namespace {

using std::chrono::steady_clock;
using result = tl::expected<void, std::string>;
using progress_callback = std::function<void(const std::string&)>;

// Asks the first control plane that answers.
tl::expected<leave_state, leave_problem> request_leave_of_any(const joined_credentials& held,
                                                              bool at_once) {
  leave_problem last{true, "there is no address of a control plane"};
  for (const auto& address : api_addresses(held)) {
    auto through = held;
    through.api_address = address;
    const auto to = connect_as_node(through);
    if (!to) return tl::make_unexpected(leave_problem{false, to.error()});
    auto answered = request_leave(**to, held.node_name, at_once);
    if (answered || !answered.error().unreachable) return answered;
    last = answered.error();
  }
  return tl::make_unexpected(std::move(last));
}

// Returns when the cluster has released the node.
result leave_cluster(const leave_options& options, const joined_credentials& held,
                     const progress_callback& progress) {
  const auto end = steady_clock::now() + options.timeout;
  std::string reported;
  for (;;) {
    const auto now = request_leave_of_any(held, options.force);
    if (!now && options.force) {
      progress(
          fmt::format("the control plane was not informed ({}); remove the node there with kubectl "
                      "delete node {}",
                      now.error().message, held.node_name));
      return {};
    }
    if (!now && now.error().unreachable)
      return tl::make_unexpected(
          fmt::format("the control plane cannot be informed: {}; try again, or use --force to "
                      "remove the local data only",
                      now.error().message));
    if (!now) return tl::make_unexpected(now.error().message);
    if (now->gone) return {};
    if (now->left != "0" && !node_folder::holder(options.data_dir))
      return tl::make_unexpected(
          fmt::format("node {} still has {} pods, and no process here ends them: start it with "
                      "troupe join --data-dir {} and leave again, or use --force",
                      held.node_name, now->left, options.data_dir.string()));
    if (now->left != "0" && now->pods != reported)
      progress(fmt::format("waiting for {} pods to end: {}", now->left, reported = now->pods));
    if (steady_clock::now() >= end)
      return tl::make_unexpected(fmt::format(
          "{} pods of node {} have not ended in time ({}); it stays cordoned: leave again, with a "
          "longer --timeout, or with --force",
          now->left, held.node_name, now->pods));
    std::this_thread::sleep_for(join_defaults::leave_poll);
  }
}

bool ends(const std::filesystem::path& folder, std::chrono::milliseconds limit) {
  const auto until = steady_clock::now() + limit;
  while (node_folder::holder(folder)) {
    if (steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(join_defaults::leave_poll / 10);
  }
  return true;
}

}  // namespace

tl::expected<leave_state, leave_problem> request_leave(cluster_client& to, const std::string& node,
                                                       bool at_once) {
  const auto answer =
      to.call({.method = "POST",
               .path = server::leave_path(node),
               .body = server::write_flat_json({{"force", at_once ? "true" : "false"}})});
  if (!answer) return tl::make_unexpected(leave_problem{true, answer.error()});
  // The node was removed before, so that there is nothing left to leave.
  if (answer->status == 403) return leave_state{true, {}, {}};
  if (answer->status == 401)
    return tl::make_unexpected(leave_problem{true,
                                             "the node's certificate is no longer valid there; its "
                                             "clock may be wrong, or it has expired"});
  if (answer->status != 200)
    return tl::make_unexpected(leave_problem{answer->status >= 500, refusal(*answer)});
  const auto fields = server::read_flat_json(answer->body);
  if (!fields) return tl::make_unexpected(leave_problem{false, fields.error()});
  return leave_state{server::member(*fields, "state") == "gone", server::member(*fields, "left"),
                     server::member(*fields, "pods")};
}

// The process ends by itself when the control plane releases the node, otherwise by a signal.
result end_process(const leave_options& options, bool reported) {
  if (reported && ends(options.data_dir, join_defaults::process_end)) return {};
  const auto id = node_folder::holder(options.data_dir);
  if (!id) return {};
  if (::kill(*id, SIGTERM) != 0 && errno != ESRCH)
    return tl::make_unexpected(
        fmt::format("the node's process {} cannot be ended: {}", *id, std::strerror(errno)));
  if (ends(options.data_dir, join_defaults::process_end)) return {};
  return tl::make_unexpected(
      fmt::format("the node's process {} does not end: end it, then leave again", *id));
}

// Ends pods that still run, as possible after --force, and removes their files, which have secrets.
result end_pods(const std::filesystem::path& root_dir) {
  if (!std::filesystem::exists(root_dir)) return {};
  const auto held = node_folder::lock_root_dir(root_dir);
  if (!held) return tl::make_unexpected(held.error());
  if (auto ended = actors::end_leftover_sandboxes(root_dir); !ended) return ended;
  if (!actors::end_leftover_pods(root_dir))
    return tl::make_unexpected(
        fmt::format("{} cannot be removed: end the processes that use it, then leave again",
                    (root_dir / "pods").string()));
  std::error_code ignored;
  std::filesystem::remove(root_dir / "kubelet.lock", ignored);
  std::filesystem::remove(root_dir, ignored);  // only if it is empty
  return {};
}

result leave(const leave_options& options, const progress_callback& progress) {
  if (is_control_plane(options.data_dir)) return leave_as_control_plane(options, progress);
  const join_folder folder{options.data_dir};
  const auto held = folder.load();
  if (!held && !options.force) return tl::make_unexpected(held.error());
  const bool member = held && held->has_value();
  if (!member && !std::filesystem::exists(folder.path()))
    return tl::make_unexpected(
        fmt::format("data dir {}: has joined no cluster; name the right one with --data-dir",
                    options.data_dir.string()));
  if (member) {
    if (auto done = leave_cluster(options, **held, progress); !done) return done;
  }
  if (auto ended = end_process(options, member && !options.force); !ended) return ended;
  if (auto ended = end_pods(folder.root().value_or(options.data_dir / "kubelet")); !ended)
    return ended;
  if (auto removed = actors::remove_network(network_markers(options.data_dir)); !removed)
    return removed;
  return folder.remove();
}

}  // namespace troupe::tools

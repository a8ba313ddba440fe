#include "actors/link/node_links.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "actors/access/node_identity.hpp"
#include "actors/core/log.hpp"
#include "actors/link/defaults.hpp"
#include "actors/link/late_states.hpp"
#include "actors/link/node_permissions.hpp"
#include "actors/link/node_session.hpp"
#include "actors/link/node_streams.hpp"
#include "actors/tokens/bootstrap_token.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"
#include "runtime/line_limit.hpp"

namespace troupe::actors {

using api::core::v1::Node;
using api::core::v1::Secret;

namespace {

constexpr const char* link_kind = "link";

bool is_token(const api::object& object) {
  return object.as<Secret>().type() == bootstrap_token_type;
}

}  // namespace

// -- the table ------------------------------------------------------------------------------------

void link_table::put(const std::string& node, runtime::link::session_ptr session) {
  std::lock_guard lock{mutex_};
  sessions_[node] = std::move(session);
}

void link_table::remove(const std::string& node, const runtime::link::session_ptr& session) {
  std::lock_guard lock{mutex_};
  const auto found = sessions_.find(node);
  if (found != sessions_.end() && found->second == session) sessions_.erase(found);
}

std::vector<linked_node> link_table::list() const {
  std::unordered_map<std::string, runtime::link::session_ptr> sessions;
  {
    std::lock_guard lock{mutex_};
    sessions = sessions_;
  }
  std::vector<linked_node> rows;
  rows.reserve(sessions.size());
  for (const auto& [node, session] : sessions)
    rows.push_back({node, session->other(), session->stats()});
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.node < b.node; });
  return rows;
}

bool link_table::connected(const std::string& node) const {
  std::lock_guard lock{mutex_};
  return sessions_.contains(node);
}

// -- the actor ------------------------------------------------------------------------------------

links::links(persistence::store* store, core_actors core, runtime::actor_ref tokens,
             std::shared_ptr<link_table> table, std::shared_ptr<first_node_callback> first_node)
    : informer{core.watcher},
      store_{store},
      core_{std::move(core)},
      token_provider_{std::move(tokens)},
      table_{std::move(table)},
      first_node_{std::move(first_node)} {}

const runtime::behavior& links::make_behavior() const {
  static const auto table =
      runtime::handlers(&links::on_watch_events, &links::on_watch_ended, &links::on_node_connected,
                        &links::on_await_nodes, &links::on_open_log, &links::on_ask_console,
                        &links::on_open_stream, &links::on_ask_usage, &links::on_child_ended);
  return table;
}

void links::started() {
  on_await_nodes({});
}

std::string links::describe() const {
  return fmt::format("connected: {}\narrived: {}\nreplaced: {}\n", table_->list().size(), arrived_,
                     replaced_);
}

void links::on_node_connected(const node_connected& m) {
  ++arrived_;
  if (const auto old = child(link_kind, m.node)) {
    ++replaced_;
    log().info("link: node {} called again; its former session ends", m.node);
    stop_child(old);
  }
  spawn({.kind = link_kind, .name = m.node, .restart = false},
        runtime::make<node_session>(m.node, m.inbox,
                                    node_session_context{store_, core_, table_, token_provider_}));
}

void links::on_child_ended(const runtime::child_ended& m) {
  if (!m.reason.empty()) log().error("link: the session of node {} failed: {}", m.name, m.reason);
}

void links::on_await_nodes(const await_nodes&) {
  {
    std::lock_guard lock{first_node_->mutex};
    if (!first_node_->call || tokens_ != 0) return;
  }
  tokens_ = follow(api::kind_of<Secret>().prefix(std::string{bootstrap_token_namespace}),
                   [this](const watch_events& seen) {
                     if (!seen.events.empty()) call_first_node();
                   },
                   {.accept = is_token});
  nodes_ = follow(api::kind_of<Node>().prefix(),
                  [this](const watch_events& seen) {
                    if (!seen.events.empty()) call_first_node();
                  },
                  {.accept = has_joined});
}

void links::call_first_node() {
  std::function<bool()> callback;
  {
    std::lock_guard lock{first_node_->mutex};
    callback = first_node_->call;
  }
  if (again_.pending()) return;
  if (callback && !callback()) {
    again_ = after(defaults::try_again, [this] { call_first_node(); });
    return;
  }
  unfollow(std::exchange(tokens_, 0));
  unfollow(std::exchange(nodes_, 0));
  std::lock_guard lock{first_node_->mutex};
  first_node_->call = nullptr;
}

void links::on_open_log(const open_log& m) {
  auto request = m;
  request.reader = sender();
  const auto session = child(link_kind, m.node);
  if (session && tell(session, std::move(request))) return;
  tell(sender(), log_part{.id = m.id,
                          .text = {},
                          .ended = true,
                          .problem = fmt::format("node {} is not connected", m.node)});
}

void links::on_ask_console(const ask_console& m, runtime::promise<console_view> answer) {
  const auto session = child(link_kind, m.node);
  if (!session) return answer.deliver({0, fmt::format("node {} is not connected", m.node)});
  tell(session, node_console_request{
                    m, std::make_shared<runtime::promise<console_view>>(std::move(answer))});
}

void links::on_open_stream(const open_stream& m, runtime::promise<stream_opened> answer) {
  const auto session = child(link_kind, m.node);
  const auto shared = std::make_shared<runtime::promise<stream_opened>>(std::move(answer));
  if (session && tell(session, node_stream_request{m, shared})) return;
  shared->deliver({tl::make_unexpected(runtime_error{
      runtime_error::kind::refused, fmt::format("node {} is not connected", m.node)})});
}

void links::on_ask_usage(const ask_usage& m, runtime::promise<node_usage> answer) {
  const auto session = child(link_kind, m.node);
  if (!session) return answer.deliver({.problem = fmt::format("node {} is not connected", m.node)});
  tell(session,
       node_usage_request{std::make_shared<runtime::promise<node_usage>>(std::move(answer))});
}

// -- from outside ---------------------------------------------------------------------------------

node_links::node_links(runtime::actor_system& system, persistence::store& store,
                       const core_actors& core, runtime::actor_ref tokens)
    : system_{system},
      store_{store},
      table_{std::make_shared<link_table>()},
      first_node_{std::make_shared<first_node_callback>()} {
  actor_ = system.spawn({.kind = "supervisor", .name = "links"},
                        runtime::make<links>(&store, core, std::move(tokens), table_, first_node_));
}

runtime::link::acceptor node_links::acceptor() const {
  const auto line = std::make_shared<runtime::line_limit>(link_defaults::refused_node_line_period);
  const auto late = std::make_shared<late_states>();
  return [store = &store_, to = actor_, line, late](const runtime::link::session_ptr& session)
             -> tl::expected<std::shared_ptr<runtime::link::receiver>, std::string> {
    auto node = admit_node(store->read(), session->other());
    if (!node && is_removal_reason(node.error())) {
      if (!late->counts(*store, session->other().name))
        return tl::make_unexpected(
            std::string{"this control plane does not know the node yet: call again"});
      node = admit_node(store->read(), session->other());
    }
    if (!node) {
      if (const auto left_out = line->allow(std::chrono::steady_clock::now()))
        log().warn("link: {} was refused: {}{}", session->other().address, node.error(),
                   *left_out == 0 ? "" : fmt::format(" (and {} more)", *left_out));
      return tl::make_unexpected(std::move(node.error()));
    }
    const auto made = std::make_shared<frame_inbox>(session);
    auto receiver = made->receiver();
    if (!to.tell(node_connected{std::move(*node), made}))
      return tl::make_unexpected(std::string{"the control plane is ending: call again"});
    return receiver;
  };
}

std::shared_ptr<stream_source> node_links::streams_of(const std::string& node) const {
  return std::make_shared<node_streams>(system_, actor_, node);
}

void node_links::await_nodes(std::function<bool()> callback) const {
  {
    std::lock_guard lock{first_node_->mutex};
    first_node_->call = std::move(callback);
  }
  actor_.tell(links::await_nodes{});
}

}  // namespace troupe::actors

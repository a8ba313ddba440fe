#include "actors/link/node_links.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "actors/bootstrap_token.hpp"
#include "actors/link/node_permissions.hpp"
#include "actors/link/node_session.hpp"
#include "actors/log.hpp"
#include "actors/node_identity.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"

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

links::links(persistence::store* truth, doors to, std::shared_ptr<link_table> table,
             std::shared_ptr<opening> first)
    : follower{to.watcher},
      truth_{truth},
      to_{std::move(to)},
      table_{std::move(table)},
      first_{std::move(first)} {}

const runtime::behavior& links::make_behavior() const {
  static const auto table = runtime::handlers(
      &links::on_watch_events, &links::on_watch_ended, &links::on_node_arrived,
      &links::on_await_nodes, &links::on_open_log, &links::on_ask_console, &links::on_child_ended);
  return table;
}

void links::started() {
  on_await_nodes({});
}

std::string links::describe() const {
  return fmt::format("connected: {}\narrived: {}\nreplaced: {}\n", table_->list().size(), arrived_,
                     replaced_);
}

void links::on_node_arrived(const node_arrived& m) {
  ++arrived_;
  if (const auto old = child(link_kind, m.node)) {
    ++replaced_;
    log().info("link: node {} called again; its former session ends", m.node);
    stop_child(old);
  }
  spawn({.kind = link_kind, .name = m.node, .restart = false},
        runtime::make<node_session>(m.node, m.session,
                                    node_session_surroundings{truth_, to_, table_}));
}

void links::on_child_ended(const runtime::child_ended& m) {
  if (!m.reason.empty()) log().error("link: the session of node {} failed: {}", m.name, m.reason);
}

void links::on_await_nodes(const await_nodes&) {
  {
    std::lock_guard lock{first_->mutex};
    if (!first_->wanted || tokens_ != 0) return;
  }
  tokens_ = follow(api::kind_of<Secret>().prefix(std::string{bootstrap_token_namespace}),
                   [this](const watch_events& seen) {
                     if (!seen.events.empty()) nodes_wanted();
                   },
                   {.accept = is_token});
  nodes_ = follow(api::kind_of<Node>().prefix(),
                  [this](const watch_events& seen) {
                    if (!seen.events.empty()) nodes_wanted();
                  },
                  {.accept = has_joined});
}

void links::nodes_wanted() {
  std::function<bool()> wanted;
  {
    std::lock_guard lock{first_->mutex};
    wanted = first_->wanted;
  }
  if (again_.pending()) return;
  if (wanted && !wanted()) {
    again_ = after(defaults::try_again, [this] { nodes_wanted(); });
    return;
  }
  unfollow(std::exchange(tokens_, 0));
  unfollow(std::exchange(nodes_, 0));
  std::lock_guard lock{first_->mutex};
  first_->wanted = nullptr;
}

void links::on_open_log(const open_log& m) {
  auto asked = m;
  asked.reader = sender();
  const auto session = child(link_kind, m.node);
  if (session && tell(session, std::move(asked))) return;
  tell(sender(), log_part{.id = m.id,
                          .text = {},
                          .ended = true,
                          .problem = fmt::format("node {} is not connected", m.node)});
}

void links::on_ask_console(const ask_console& m, runtime::promise<console_view> answer) {
  const auto session = child(link_kind, m.node);
  if (!session) return answer.deliver({0, fmt::format("node {} is not connected", m.node)});
  tell(session,
       node_question{m, std::make_shared<runtime::promise<console_view>>(std::move(answer))});
}

// -- from outside ---------------------------------------------------------------------------------

node_links::node_links(runtime::system& company, persistence::store& truth, const doors& to)
    : truth_{truth}, table_{std::make_shared<link_table>()}, first_{std::make_shared<opening>()} {
  actor_ = company.spawn({.kind = "supervisor", .name = "links"},
                         runtime::make<links>(&truth, to, table_, first_));
}

runtime::link::acceptor node_links::acceptor() const {
  return [truth = &truth_, to = actor_](const runtime::link::session_ptr& session)
             -> tl::expected<std::shared_ptr<runtime::link::receiver>, std::string> {
    auto node = admit_node(truth->read(), session->other());
    if (!node) {
      log().warn("link: {} was refused: {}", session->other().address, node.error());
      return tl::make_unexpected(std::move(node.error()));
    }
    const auto made = std::make_shared<arrival>(session);
    auto receiver = made->receiver();
    if (!to.tell(node_arrived{std::move(*node), made}))
      return tl::make_unexpected(std::string{"the control plane is ending: call again"});
    return receiver;
  };
}

void node_links::await_nodes(std::function<bool()> wanted) const {
  {
    std::lock_guard lock{first_->mutex};
    first_->wanted = std::move(wanted);
  }
  actor_.tell(links::await_nodes{});
}

}  // namespace troupe::actors

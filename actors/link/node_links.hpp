// The links of the joined nodes at the control plane: accepts sessions of nodes, rejects others,
// and lists the connected nodes.
//
// The actor `links` supervises one `link/NODE` for each connected node (node_session.hpp). A
// node's newest session replaces an older one, whose connection is broken without having noticed
// it yet.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/core/core_actors.hpp"
#include "actors/core/informer.hpp"
#include "actors/link/frame_inbox.hpp"
#include "actors/link/linked_stream.hpp"
#include "actors/link/node_requests.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor_system.hpp"
#include "runtime/link/link.hpp"

namespace troupe::actors {

struct linked_node {
  std::string node;
  runtime::link::peer peer;
  runtime::link::session_stats stats;
};

// The nodes that are connected now. Thread safe.
class link_table {
 public:
  void put(const std::string& node, runtime::link::session_ptr session);
  // Does nothing if another session has replaced it.
  void remove(const std::string& node, const runtime::link::session_ptr& session);

  // Sorted by name.
  std::vector<linked_node> list() const;
  bool connected(const std::string& node) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, runtime::link::session_ptr> sessions_;
};

// Called when the first node may connect.
struct first_node_callback {
  std::mutex mutex;
  std::function<bool()> call;  // until it has returned true
};

// From the acceptor to `links`: a node has connected.
struct node_connected {
  std::string node;
  std::shared_ptr<frame_inbox> inbox;
};

class links : public informer {
 public:
  // The store must outlive it.
  links(persistence::store* store, core_actors core, runtime::actor_ref tokens,
        std::shared_ptr<link_table> table, std::shared_ptr<first_node_callback> first_node);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  friend class node_links;
  // A callback for the first node was registered.
  struct await_nodes {};

  void on_node_connected(const node_connected& m);
  void on_await_nodes(const await_nodes&);
  void on_open_log(const open_log& m);
  void on_ask_console(const ask_console& m, runtime::promise<console_view> answer);
  void on_open_stream(const open_stream& m, runtime::promise<stream_opened> answer);
  void on_ask_usage(const ask_usage& m, runtime::promise<node_usage> answer);
  void on_child_ended(const runtime::child_ended& m);
  void call_first_node();

  persistence::store* store_;
  const core_actors core_;
  const runtime::actor_ref token_provider_;
  const std::shared_ptr<link_table> table_;
  const std::shared_ptr<first_node_callback> first_node_;
  stream tokens_ = 0, nodes_ = 0;
  std::uint64_t arrived_ = 0, replaced_ = 0;
  runtime::timer again_;
};

class node_links {
 public:
  // Spawns the actor `links`. The store must outlive the system. `tokens` answers request_token.
  node_links(runtime::actor_system& system, persistence::store& store, const core_actors& core,
             runtime::actor_ref tokens);

  // For a listener or one end of a loopback link; may outlive this object.
  runtime::link::acceptor acceptor() const;
  // Calls `callback` in an actor when there is a bootstrap token or a joined node: until
  // then no link is needed. Calls it again after `defaults::try_again` while it returns
  // false.
  void await_nodes(std::function<bool()> callback) const;

  const link_table& table() const noexcept { return *table_; }
  // Receives open_log, ask_console, ask_usage and open_stream.
  const runtime::actor_ref& actor() const noexcept { return actor_; }
  // Streams of a joined node's containers (node_streams.hpp); whether the node is connected is
  // checked at each call. The system must outlive it.
  std::shared_ptr<stream_source> streams_of(const std::string& node) const;

 private:
  runtime::actor_system& system_;
  persistence::store& store_;
  const std::shared_ptr<link_table> table_;
  const std::shared_ptr<first_node_callback> first_node_;
  runtime::actor_ref actor_;
};

}  // namespace troupe::actors

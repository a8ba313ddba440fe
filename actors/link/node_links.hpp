// The links of the joined nodes, seen from the control plane: takes sessions in, refuses those that
// are no node's, and knows which nodes are there.
//
// The actor `links` supervises one `link/NODE` for each connected node (node_session.hpp). The
// newest session of a node takes the place of an older one, which is then a connection that has not
// noticed its end yet.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "actors/doors.hpp"
#include "actors/follower.hpp"
#include "actors/link/arrival.hpp"
#include "actors/link/asks.hpp"
#include "persistence/store.hpp"
#include "runtime/link/link.hpp"
#include "runtime/system.hpp"

namespace troupe::actors {

struct linked_node {
  std::string node;
  runtime::link::peer peer;
  runtime::link::session_stats stats;
};

// Who is connected at this moment. Thread safe.
class link_table {
 public:
  void put(const std::string& node, runtime::link::session_ptr session);
  // Unless another session has taken its place.
  void remove(const std::string& node, const runtime::link::session_ptr& session);

  // In order of name.
  std::vector<linked_node> list() const;
  bool connected(const std::string& node) const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, runtime::link::session_ptr> sessions_;
};

// What is to be done when the first node may call.
struct opening {
  std::mutex mutex;
  std::function<bool()> wanted;  // until it has said true
};

// From the acceptor to `links`: a node has called.
struct node_arrived {
  std::string node;
  std::shared_ptr<arrival> session;
};

class links : public follower {
 public:
  // The store must outlive it.
  links(persistence::store* truth, doors to, std::shared_ptr<link_table> table,
        std::shared_ptr<opening> first);

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  friend class node_links;
  // There is something to do when the first node may call.
  struct await_nodes {};

  void on_node_arrived(const node_arrived& m);
  void on_await_nodes(const await_nodes&);
  void on_open_log(const open_log& m);
  void on_ask_console(const ask_console& m, runtime::promise<console_view> answer);
  void on_child_ended(const runtime::child_ended& m);
  void nodes_wanted();

  persistence::store* truth_;
  const doors to_;
  const std::shared_ptr<link_table> table_;
  const std::shared_ptr<opening> first_;
  stream tokens_ = 0, nodes_ = 0;
  std::uint64_t arrived_ = 0, replaced_ = 0;
  runtime::timer again_;
};

class node_links {
 public:
  // Spawns the actor `links`. The store must outlive the system.
  node_links(runtime::system& company, persistence::store& truth, const doors& to);

  // For a listener, or one end of a loop; may outlive this object.
  runtime::link::acceptor acceptor() const;
  // `wanted` is called in an actor when there is a bootstrap token or a node that has joined: until
  // then no link is needed. It is called again after a while when it says that it could not do
  // what it is for.
  void await_nodes(std::function<bool()> wanted) const;

  const link_table& table() const noexcept { return *table_; }
  // Takes open_log and ask_console.
  const runtime::actor_ref& actor() const noexcept { return actor_; }

 private:
  persistence::store& truth_;
  const std::shared_ptr<link_table> table_;
  const std::shared_ptr<opening> first_;
  runtime::actor_ref actor_;
};

}  // namespace troupe::actors

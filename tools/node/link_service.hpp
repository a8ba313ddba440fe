// The control plane's side of the links: the listener that joined nodes call, and the console's
// requests over it.
//
// It costs an idle single node nothing: the listener starts when the first bootstrap token or
// joined node is seen, on a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "actors/control_plane/control_plane.hpp"
#include "runtime/link/link.hpp"
#include "server/console/context/remote.hpp"

namespace troupe::tools {

struct link_service_options {
  runtime::link::address listen;
  runtime::link::credentials_source credentials;
  // Called once, when it listens; on the service's thread.
  std::function<void(const runtime::link::address& address)> listening;
  // As runtime::link::listener_options::refused.
  std::function<void(const runtime::link::refusal& refusal)> refused = {};
};

class link_service {
 public:
  // The control plane must outlive it. If the address cannot be bound, it retries.
  link_service(actors::control_plane& plane, link_service_options options);
  // Closes all sessions.
  ~link_service();

  // Zeros until it listens. Any thread.
  runtime::link::listener_stats stats() const;

 private:
  struct shared;
  const std::shared_ptr<shared> state_;
};

// Consoles of the joined nodes, over their links. The control plane must outlive it.
class linked_consoles final : public server::other_nodes {
 public:
  // `own`: the node of this machine, which needs no link.
  explicit linked_consoles(actors::control_plane& plane, std::string own = {})
      : plane_{plane}, own_{std::move(own)} {}

  void ask(const std::string& node, server::console_question question,
           std::chrono::milliseconds deadline, std::size_t limit_bytes, answered done) override;
  std::vector<server::node_link> links() const override;

 private:
  actors::control_plane& plane_;
  const std::string own_;
};

}  // namespace troupe::tools

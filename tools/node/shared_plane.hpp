// What a control plane does that others stand beside, over one store: it keeps its record, and lets
// the others ask its own machine, as any other machine, over a link to each of them
// (docs/decisions/0071-several-servers.md).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "actors/api_servers/api_servers.hpp"
#include "actors/control_plane/control_plane.hpp"
#include "actors/link/node_gateway.hpp"
#include "server/join/node_signer.hpp"
#include "tools/links/other_links.hpp"

namespace troupe::tools {

// By which the others know the node of a control plane: a key that lives as long as the process.
// Whoever has the authority's key can make one.
struct own_node_key {
  std::string private_key;
  std::string public_key;
  std::string hash;  // for the Node

  static tl::expected<own_node_key, std::string> make(const std::string& node);
};

struct shared_plane_options {
  // Of this control plane; thread safe, must not block.
  std::function<actors::api_server_record()> own;
  // Nothing: its nodes are simulated, there is nothing to ask them for.
  std::optional<own_node_key> key;
  std::shared_ptr<const server::node_signer> signer;
  actors::gateway_options answers;
};

class shared_plane {
 public:
  // The plane outlives it.
  shared_plane(actors::control_plane& plane, shared_plane_options options);
  // Takes its record out, then ends its links.
  ~shared_plane() = default;

 private:
  void start_links(actors::control_plane& plane, const shared_plane_options& options);

  std::shared_ptr<server_choice> choice_;
  std::shared_ptr<other_links> others_;
  std::unique_ptr<actors::api_server_registration> registration_;
};

}  // namespace troupe::tools

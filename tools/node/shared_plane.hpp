// The duties of a control plane that shares its store with others: it keeps its record, and gives
// each of them a link to its own machine, as other machines have
// (docs/decisions/0071-several-servers.md).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "actors/api_servers/api_servers.hpp"
#include "actors/control_plane/control_plane.hpp"
#include "actors/link/node_gateway.hpp"
#include "persistence/store/store.hpp"
#include "server/join/node_signer.hpp"
#include "tools/defaults.hpp"
#include "tools/links/other_links.hpp"

namespace troupe::tools {

// The key that identifies a control plane's node to the others; valid for the life of the process.
// Anyone with the authority's key can make one.
struct own_node_key {
  std::string private_key;
  std::string public_key;
  std::string hash;  // for the Node object

  static tl::expected<own_node_key, std::string> make(const std::string& node);
};

struct shared_plane_options {
  // The record of this control plane; thread safe, must not block.
  std::function<actors::api_server_record()> own;
  // Nullopt: its nodes are simulated, so that there is nothing to request from them.
  std::optional<own_node_key> key;
  std::shared_ptr<const server::node_signer> signer;
  actors::gateway_options answers;
};

// Fails if another control plane, with a server key of another hash, uses the name of this one: two
// kubelets would run the pods of one Node. If there is a record of such a control plane it waits at
// most `limit` for its renewal, because the record of a machine that is gone may still be there.
tl::expected<void, std::string> check_name_is_unused(
    const persistence::store& store, const std::string& name, const std::string& key_hash,
    std::chrono::milliseconds limit = defaults::name_wait);

class shared_plane {
 public:
  // The plane must outlive it.
  shared_plane(actors::control_plane& plane, shared_plane_options options);
  // Removes its record, then closes its links.
  ~shared_plane() = default;

 private:
  void start_links(actors::control_plane& plane, const shared_plane_options& options);

  std::shared_ptr<server_choice> choice_;
  std::shared_ptr<other_links> others_;
  std::unique_ptr<actors::api_server_registration> registration_;
};

}  // namespace troupe::tools

#include "actors/link/joined.hpp"

#include <utility>

#include "actors/access/node_identity.hpp"
#include "actors/kubelet/simulated/simulated_minion.hpp"
#include "actors/link/node_links.hpp"
#include "api/schema/core_node.pb.h"

namespace troupe::test {

runtime::link::peer peer_of(const std::string& node) {
  return {.name = "system:node:" + node,
          .groups = {"system:nodes"},
          .key_hash = "sha256:" + node,
          .address = "10.0.0.1:1"};
}

joined_cluster::joined_cluster(std::uint64_t seed, cluster_options options)
    : plane_{seed, std::move(options)} {}

joined_cluster::~joined_cluster() {
  for (auto& [node, each] : ends_)
    if (each.line.cut) each.line.cut();
}

void joined_cluster::add(const std::string& node) {
  api::core::v1::Node made;
  made.mutable_metadata()->set_name(node);
  (*made.mutable_metadata()->mutable_annotations())[std::string{actors::node_key_annotation}] =
      peer_of(node).key_hash;
  plane_.create(made);
}

void joined_cluster::start(const std::string& node,
                           std::shared_ptr<actors::stream_source> streams) {
  auto& mine = ends_[node];
  mine.gateway = actors::spawn_gateway(
      plane_.simulation().system(),
      {.node = node,
       .streams = std::move(streams),
       .unlinked = [&mine](const std::string& reason) { mine.unlinked = reason; },
       .node_removed = [&mine](const std::string& reason) { mine.node_removed = reason; }});
}

void joined_cluster::start_minion(const std::string& node) {
  actors::simulated_node like;
  like.name = node;
  plane_.simulation().system().spawn(
      {.kind = "simulated-minion", .name = node},
      runtime::make<actors::simulated_minion>(like, core_actors_of(node)));
}

bool joined_cluster::connect(const std::string& node) {
  auto& mine = ends_.at(node);
  bool refused = false;
  const auto called = plane_.plane().links().acceptor();
  mine.line = make_loopback(peer_of(node), actors::gateway_acceptor(mine.gateway),
                            {"plane", {}, {}, {}}, [&](const runtime::link::session_ptr& session) {
                              auto answer = called(session);
                              refused = !answer;
                              if (refused) mine.unlinked = answer.error();
                              return answer;
                            });
  return !refused;
}

void joined_cluster::cut(const std::string& node) {
  if (auto& line = ends_.at(node).line; line.cut) line.cut();
}

actors::core_actors joined_cluster::core_actors_of(const std::string& node) const {
  const auto& gateway = ends_.at(node).gateway;
  return {gateway, gateway, gateway};
}

}  // namespace troupe::test

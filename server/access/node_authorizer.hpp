// The permissions of kubelets over HTTP (user system:node:NAME in system:nodes): objects used by
// the pods bound to the node, and objects that every kubelet needs. Allows or has no opinion.
// Admission restricts writes to the node's own objects (make_node_restriction).
//
// kubernetes: plugin/pkg/auth/authorizer/node.
#pragma once

#include <memory>

#include "actors/access/node_graph.hpp"
#include "actors/access/rules.hpp"
#include "persistence/store/store.hpp"
#include "server/access/authorization.hpp"

namespace troupe::server {

class node_authorizer final : public authorizer {
 public:
  // The store must outlive it. The graph has the related objects, the store one object by its key.
  node_authorizer(std::shared_ptr<const actors::access::node_graph> graph,
                  const persistence::store& store);

  decision authorize(const user_info& user, const request_info& info,
                     std::string* reason) const override;

 private:
  bool is_related(std::string_view node, const request_info& info) const;

  const std::shared_ptr<const actors::access::node_graph> graph_;
  const persistence::store& store_;
  actors::access::rule_list rules_;  // of the role system:node
};

}  // namespace troupe::server

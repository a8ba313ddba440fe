// The identity of a joined node: the subject of its certificate, and the hash of that certificate's
// key in its Node. Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/object/object.hpp"

namespace troupe::actors {

// kubernetes: pkg/auth/nodeidentifier.
inline constexpr std::string_view node_user_prefix = "system:node:";
inline constexpr std::string_view nodes_group = "system:nodes";
// Also in the certificates of joined nodes: they are revoked with the key in their Node.
inline constexpr std::string_view joined_nodes_group = "troupe:joined-nodes";
// The annotation of a Node: "sha256:" and the hash of the public key of its certificate. Removing
// it, or the Node, expels the machine.
inline constexpr std::string_view node_key_annotation = "troupe.dev/node-key";

// The node that a certificate with this subject identifies; empty for other subjects.
std::string_view node_of(std::string_view user, std::span<const std::string> groups);

// Empty for a node that has not joined: it runs in the process of its control plane.
std::string_view node_key_hash(const api::meta::v1::ObjectMeta& node);
std::string_view node_key_hash(const api::object& node);
bool has_joined(const api::object& node);

// The error that closes a removed node's link for good, and the check for it.
std::string removal_reason(std::string_view node);
bool is_removal_reason(std::string_view reason);

}  // namespace troupe::actors

// How a node that has joined is known: by the subject of its certificate, and by the hash of the
// key of that certificate in its Node. Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/object/object.hpp"

namespace troupe::actors {

// kubernetes: pkg/auth/nodeidentifier.
inline constexpr std::string_view node_user_prefix = "system:node:";
inline constexpr std::string_view nodes_group = "system:nodes";
// Also in the certificates that joining gives: they end with the key in their Node.
inline constexpr std::string_view joined_nodes_group = "troupe:joined-nodes";
// On the Node: "sha256:" and the hash of the public key that may speak for it. Whoever takes it
// away, or the Node, expels the machine.
inline constexpr std::string_view node_key_annotation = "troupe.dev/node-key";

// The node that a certificate with this subject speaks for; empty for other subjects.
std::string_view node_of(std::string_view user, std::span<const std::string> groups);

// Empty for a node that has not joined: it runs with its control plane.
std::string_view node_key(const api::meta::v1::ObjectMeta& node);
std::string_view node_key(const api::object& node);
bool has_joined(const api::object& node);

// Why a node's link is ended for good, and whether a reason says so.
std::string removed_from_cluster(std::string_view node);
bool says_removed(std::string_view reason);

}  // namespace troupe::actors

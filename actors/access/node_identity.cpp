#include "actors/access/node_identity.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "actors/core/labels.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {
namespace {

constexpr std::string_view removed_words = " was removed from this cluster";

}  // namespace

std::string_view node_of(std::string_view user, std::span<const std::string> groups) {
  if (!user.starts_with(node_user_prefix)) return {};
  if (std::find(groups.begin(), groups.end(), nodes_group) == groups.end()) return {};
  return user.substr(node_user_prefix.size());
}

std::string_view node_key_hash(const api::meta::v1::ObjectMeta& node) {
  return annotation_of(node, std::string{node_key_annotation});
}

std::string_view node_key_hash(const api::object& node) {
  return node_key_hash(node.meta());
}

bool has_joined(const api::object& node) {
  return !node_key_hash(node).empty();
}

std::string removal_reason(std::string_view node) {
  return fmt::format("node {}{}: join it again with a new token", node, removed_words);
}

bool is_removal_reason(std::string_view reason) {
  return reason.find(removed_words) != std::string_view::npos;
}

}  // namespace troupe::actors

#include "tools/node/shared_plane.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <thread>
#include <utility>

#include "actors/api_servers/api_server_informer.hpp"
#include "api/scheme.hpp"
#include "server/credentials/x509.hpp"

namespace troupe::tools {

tl::expected<own_node_key, std::string> own_node_key::make(const std::string& node) {
  auto key = server::x509::make_key();
  if (!key) return tl::make_unexpected(key.error());
  const auto request = server::x509::make_request(*key, "system:node:" + node);
  if (!request) return tl::make_unexpected(request.error());
  auto read = server::x509::read_request(*request);
  if (!read) return tl::make_unexpected(read.error());
  return own_node_key{std::move(*key), std::move(read->public_key), std::move(read->key_hash)};
}

tl::expected<void, std::string> check_name_is_unused(const persistence::store& store,
                                                     const std::string& name,
                                                     const std::string& key_hash,
                                                     std::chrono::milliseconds limit) {
  using api::coordination::v1::Lease;
  const auto key =
      api::kind_of<Lease>().key(actors::api_server_namespace, actors::api_server_lease(name));
  const auto end = std::chrono::steady_clock::now() + limit;
  persistence::revision seen = 0;
  for (;;) {
    const auto lease = store.read().find(key);
    const auto record = lease ? actors::read_api_server(lease->as<Lease>()) : std::nullopt;
    if (!record || record->key_hash == key_hash) return {};
    if (seen != 0 && lease->revision() != seen)
      return tl::make_unexpected(
          fmt::format("another control plane {} runs at {}: give this machine another name with "
                      "--node-name",
                      name, record->api));
    if (seen == 0)
      spdlog::info("node: a control plane {} had another key; waiting whether it runs", name);
    seen = lease->revision();
    if (std::chrono::steady_clock::now() >= end) return {};
    std::this_thread::sleep_for(defaults::name_poll);
  }
}

shared_plane::shared_plane(actors::control_plane& plane, shared_plane_options options) {
  if (options.key) start_links(plane, options);
  registration_ = std::make_unique<actors::api_server_registration>(
      plane.system(), plane.store(), plane.writes(),
      actors::api_servers_options{std::move(options.own)});
}

void shared_plane::start_links(actors::control_plane& plane, const shared_plane_options& options) {
  choice_ = std::make_shared<server_choice>(std::nullopt);
  // Makes a certificate for each handshake: the authority is local, and none needs renewal.
  auto credentials = [key = *options.key, node = options.answers.node, signer = options.signer] {
    auto signed_now = signer->certify(node, key.public_key, std::chrono::system_clock::now());
    if (!signed_now) spdlog::warn("no certificate for this node: {}", signed_now.error());
    return runtime::link::credentials{std::move(signed_now).value_or(""), key.private_key,
                                      signer->authority()};
  };
  others_ = std::make_shared<other_links>(plane.system(), choice_,
                                          other_links_options{.answers = options.answers,
                                                              .credentials = std::move(credentials),
                                                              .except = options.own().name});
  actors::follow_api_servers(
      plane.system(), plane.core_actors().watcher,
      [choice = choice_, others = std::weak_ptr{others_}](const auto& records) {
        choice->learn(records);
        if (const auto links = others.lock()) links->sync();
      });
}

}  // namespace troupe::tools

#include "tools/join/joined_node.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <optional>
#include <utility>

#include "actors/api_servers/api_server_informer.hpp"
#include "actors/kubelet/node/kubelet.hpp"
#include "actors/kubelet/simulated/simulated_minion.hpp"
#include "actors/link/node_gateway.hpp"
#include "config/node_config.hpp"
#include "runtime/actor_system.hpp"
#include "server/connections/http_server.hpp"
#include "server/connections/local_socket.hpp"
#include "server/console/handlers/local_admin.hpp"
#include "server/credentials/addresses.hpp"
#include "tools/defaults.hpp"
#include "tools/join/local_address.hpp"
#include "tools/links/console_slot.hpp"
#include "tools/links/other_links.hpp"
#include "tools/node/machine_shutdown.hpp"
#include "tools/node/node_options.hpp"

namespace troupe::tools {

namespace {

// Declared bottom up: each part outlives its users.
class joined_node final : public node_parts {
 public:
  joined_node(const config::node_config& config, joined_node_options options)
      : config_{config}, options_{std::move(options)} {}
  ~joined_node() override {
    stop();
    console_->close();
  }

  tl::expected<std::string, std::string> start() override {
    const auto given = options_.credentials();
    const auto address = config::parse_address(given.link_address);
    if (!address || address->empty())
      return tl::make_unexpected(fmt::format(
          "the link's address \"{}\" is not HOST:PORT: join again", given.link_address));
    node_ = given.node_name;
    system_ = std::make_unique<runtime::actor_system>(make_system_options(config_.runtime));
    local_admin_.emplace(console_->open(*system_, node_));
    if (config_.kubelet.runtime != config::pod_runtime::simulated)
      kubelet_ = make_kubelet_options(config_, node_);
    choice_ = std::make_shared<server_choice>(runtime::link::address{address->host, address->port});
    choice_->learn(actors::read_api_servers(given.control_planes));
    auto policy = make_simulation_policy(config_.kubelet);
    if (!policy) return tl::make_unexpected(policy.error());
    simulation_policy_ = std::move(*policy);
    const auto gateway = start_gateway();
    if (kubelet_) kubelet_->tokens = gateway;
    auto network = make_node_network(config_, node_, kubelet_ && runs_images(*kubelet_), 0);
    if (!network) return tl::make_unexpected(network.error());
    network_ = std::move(*network);
    if (network_) network_->follow(*system_, gateway);
    if (network_ && kubelet_) {
      kubelet_->guard = network_->guard();
      kubelet_->network_problem = network_->pod_problem();
    }
    start_node({gateway, gateway, gateway}, local_address_towards(address->host, address->port));
    if (auto started = start_links(gateway); !started) return tl::make_unexpected(started.error());
    serve_console();
    return given.link_address;
  }

  void shut_down() override { end_pods_at_shutdown(*system_, config_.kubelet); }

  void stop() override {
    dialer_.reset();
    others_.reset();
    if (server_) server_->stop();
  }

 private:
  // The answers of the machine to any control plane.
  actors::gateway_options answers() const {
    actors::gateway_options gateway;
    gateway.node = node_;
    if (kubelet_) {
      gateway.logs = kubelet_->containers;
      gateway.streams = kubelet_->containers;
    }
    gateway.console = answers_of(console_);
    return gateway;
  }

  runtime::actor_ref start_gateway() {
    auto gateway = answers();
    gateway.linked = options_.linked;
    gateway.unlinked = options_.unlinked;
    gateway.node_removed = [this](const std::string& reason) { end_pods(reason); };
    return actors::spawn_gateway(*system_, std::move(gateway));
  }

  tl::expected<void, std::string> start_links(const runtime::actor_ref& gateway) {
    const auto credentials = [held = options_.credentials] {
      auto now = held();
      return runtime::link::credentials{std::move(now.certificate), std::move(now.private_key),
                                        std::move(now.authority)};
    };
    auto dialer = runtime::link::dialer::start(
        {.to = {},
         .credentials = credentials,
         .accept =
             [choice = choice_, accept = actors::gateway_acceptor(gateway)](const auto& session) {
               choice->linked(session->other().key_hash);
               return accept(session);
             },
         .failed =
             [gateway](const std::string& reason) { gateway.tell(actors::call_failed{reason}); },
         .addresses = [choice = choice_] { return choice->first_addresses(); }});
    if (!dialer) return tl::make_unexpected(dialer.error());
    dialer_ = std::move(*dialer);
    others_ = std::make_shared<other_links>(
        *system_, choice_,
        other_links_options{.answers = answers(), .credentials = credentials, .except = {}});
    others_->sync();
    actors::follow_api_servers(
        *system_, gateway,
        [choice = choice_, others = std::weak_ptr{others_},
         learned = options_.learned](const actors::api_server_records& records) {
          choice->learn(records);
          if (const auto links = others.lock()) links->sync();
          if (learned) learned(actors::write_api_servers(records));
        });
    return {};
  }

  // For the administrator of this machine. If it cannot be served, pods run nevertheless.
  void serve_console() {
    server::http_options few;
    few.io_threads = 1;
    few.connections = defaults::local_connections;
    server_ = std::make_unique<server::http_server>(few);
    const auto file = config_.data_dir / server::console_socket;
    if (const auto local = server_->listen_locally(file, *local_admin_); !local)
      spdlog::warn("the console of this machine: {}", local.error());
  }

  // Pods of a cluster must not run where the cluster cannot see them. Called in the gateway.
  void end_pods(const std::string& reason) {
    const auto kubelet = system_->actors().find("kubelet", node_);
    if (!kubelet) return options_.node_removed(reason);
    actors::end_all_pods(*system_, kubelet, defaults::expelled_limit,
                         [node_removed = options_.node_removed, reason](bool ended) {
                           if (!ended) spdlog::warn("not all pods of this machine have ended");
                           node_removed(reason);
                         });
  }

  void start_node(const actors::core_actors& to, const std::string& address) {
    const auto& from = config_.kubelet;
    if (!kubelet_) {
      auto node = make_simulated_node(from);
      node.name = node_;
      node.policy = simulation_policy_;
      node.number = static_cast<std::uint32_t>(std::hash<std::string>{}(node_));
      system_->spawn({.kind = "simulated-minion", .name = node_},
                     runtime::make<actors::simulated_minion>(std::move(node), to));
      return;
    }
    kubelet_->address = address;
    const auto second = second_address(config_, address, server::interface_addresses());
    if (!second) spdlog::warn("{}", second.error());
    kubelet_->second_address = second.value_or("");
    actors::spawn_kubelet(*system_, to, *kubelet_);
  }

  const config::node_config& config_;
  const joined_node_options options_;
  std::string node_;
  const std::shared_ptr<console_slot> console_ = std::make_shared<console_slot>();
  std::unique_ptr<runtime::actor_system> system_;
  std::unique_ptr<actors::node_network> network_;  // null if disabled
  actors::simulated::policy_ptr simulation_policy_;
  std::optional<actors::kubelet_options> kubelet_;  // nullopt if pods are simulated
  std::shared_ptr<server_choice> choice_;
  std::unique_ptr<runtime::link::dialer> dialer_;
  std::shared_ptr<other_links> others_;
  std::optional<server::local_admin> local_admin_;
  std::unique_ptr<server::http_server> server_;
};

}  // namespace

std::unique_ptr<node_parts> compose_joined(const config::node_config& config,
                                           joined_node_options options) {
  return std::make_unique<joined_node>(config, std::move(options));
}

}  // namespace troupe::tools

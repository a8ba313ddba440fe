#include "tools/node/compose.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>
#include <optional>

#include "actors/control_plane/control_plane.hpp"
#include "actors/kubelet/node/kubelet.hpp"
#include "actors/kubelet/simulated/simulated_fleet.hpp"
#include "actors/write/pod_security/policy.hpp"
#include "api/schema/networking_policy.pb.h"
#include "api/scheme.hpp"
#include "config/node_config.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor_system.hpp"
#include "server/access/node_authorizer.hpp"
#include "server/access/rbac_authorizer.hpp"
#include "server/access/user_tokens.hpp"
#include "server/console/handlers/console.hpp"
#include "server/credentials/addresses.hpp"
#include "server/credentials/pki.hpp"
#include "server/credentials/x509.hpp"
#include "server/flow_control/refusal_log.hpp"
#include "server/frontend/api_frontend.hpp"
#include "server/frontend/health.hpp"
#include "server/join/bootstrap_tokens.hpp"
#include "server/join/join_api.hpp"
#include "server/join/join_authorizer.hpp"
#include "server/join/node_certificates.hpp"
#include "server/legacy/legacy_api.hpp"
#include "server/rest/calls/api_address.hpp"
#include "server/rest/calls/system_objects.hpp"
#include "server/rest/handlers/api_server.hpp"
#include "server/tokens/account_tokens.hpp"
#include "tools/links/console_slot.hpp"
#include "tools/node/cluster_store.hpp"
#include "tools/node/link_service.hpp"
#include "tools/node/machine_shutdown.hpp"
#include "tools/node/node_options.hpp"
#include "tools/node/scheduler_options.hpp"
#include "tools/node/shared_plane.hpp"

namespace troupe::tools {

namespace {

namespace fs = std::filesystem;

// The audit log groups refusals with the same reason, of one address or of unknown callers.
server::refusal as_refusal(const runtime::link::refusal& seen) {
  const auto host = std::string_view{seen.peer}.substr(0, seen.peer.rfind(':'));
  auto reason = fmt::format("link: {}", to_string(seen.reason));
  if (!seen.detail.empty()) reason += ": " + seen.detail;
  return {.peer = seen.peer,
          .address = std::hash<std::string_view>{}(host),
          .reason = std::move(reason)};
}

// Declared bottom up: each part outlives its users.
class node : public node_parts {
 public:
  explicit node(const config::node_config& config) : config_{config} {}
  ~node() override {
    if (console_) console_->transport({});
    end_link();
    own_console_->close();
  }

  tl::expected<std::string, std::string> start() override {
    begin_credentials();
    const auto kinds = std::async([] { api::scheme::instance(); });
    if (auto opened = open_store(); !opened) {
      forget_credentials();
      return tl::make_unexpected(opened.error());
    }
    if (auto opened = open_keys(); !opened) return tl::make_unexpected(opened.error());
    if (shared_ != nullptr)
      if (auto unused = check_own_name(); !unused) return tl::make_unexpected(unused.error());
    if (auto spawned = start_actors(); !spawned) return tl::make_unexpected(spawned.error());
    auto address = start_server();
    if (!address) return address;
    if (auto started = start_network(); !started) return tl::make_unexpected(started.error());
    if (auto started = start_nodes(); !started) return tl::make_unexpected(started.error());
    if (shared_ != nullptr) {
      stand_beside_others();
      terms_ = std::make_unique<term_manager>(*shared_, *plane_, config_);
    }
    return address;
  }

  void shut_down() override { end_pods_at_shutdown(*system_, config_.kubelet); }

  void stop() override {
    // Resigns first, so that no client is sent to a control plane that no longer answers.
    terms_.reset();
    beside_.reset();
    end_link();
    if (front_) front_->stop();
  }

 private:
  tl::expected<void, std::string> open_store() {
    auto opened = open_cluster_store(config_);
    if (!opened) return tl::make_unexpected(opened.error());
    store_ = std::move(opened->store);
    shared_ = opened->shared;
    return {};
  }

  fs::path keys_dir() const { return config_.data_dir / "pki"; }

  // Runs on a thread of its own while a local store opens, which takes as long. With etcd it runs
  // after the store has opened: etcd may not answer, and a failed start must leave no authority.
  void begin_credentials() {
    std::error_code ignored;
    first_start_ = !fs::exists(keys_dir(), ignored);
    const bool beside = config_.store.store == config::store_kind::embedded;
    const auto policy = beside ? std::launch::async | std::launch::deferred : std::launch::deferred;
    opened_ = std::async(policy, [this] { return open_credentials(); });
  }

  // Removes an authority that no client has seen: a backup's could not be restored over it.
  void forget_credentials() {
    if (opened_.wait_for(std::chrono::seconds{0}) == std::future_status::deferred) return;
    opened_.wait();
    std::error_code ignored;
    if (first_start_) fs::remove_all(keys_dir(), ignored);
  }

  struct credentials {
    std::unique_ptr<server::pki> node;
    server::account_keys accounts;
  };

  tl::expected<credentials, std::string> open_credentials() const {
    auto node = server::api_frontend::open_keys(make_frontend_options(config_));
    if (!node) return tl::make_unexpected(node.error());
    auto accounts = server::account_keys::open(keys_dir());
    if (!accounts) return tl::make_unexpected(accounts.error());
    return credentials{std::move(*node), std::move(*accounts)};
  }

  tl::expected<void, std::string> open_keys() {
    auto opened = opened_.get();
    if (!opened) return tl::make_unexpected(opened.error());
    keys_ = std::move(opened->node);
    authority_->replace(keys_->authority());
    const auto& from = config_.service_account;
    auto accounts =
        server::account_tokens::make(*store_, std::move(opened->accounts),
                                     {.issuers = from.issuer, .api_audiences = from.api_audiences});
    if (!accounts) return tl::make_unexpected(accounts.error());
    accounts_ = std::move(*accounts);
    return {};
  }

  tl::expected<void, std::string> check_own_name() const {
    const auto hash = server::x509::key_hash(keys_->server().certificates);
    if (!hash) return tl::make_unexpected(hash.error());
    return check_name_is_unused(*store_, config_.kubelet.node_name, *hash);
  }

  tl::expected<void, std::string> start_actors() {
    auto profiles = make_scheduler_profiles(config_.scheduler);
    if (!profiles) return tl::make_unexpected(profiles.error());
    system_ = std::make_unique<runtime::actor_system>(make_system_options(config_.runtime));
    actors::pod_security::configure(make_pod_security(config_.pod_security));
    actors::control_plane_options plane;
    plane.scheduler_profiles = std::move(*profiles);
    plane.scheduler = config_.cluster.scheduler == config::own_scheduler::on;
    auto policy = make_simulation_policy(config_.kubelet);
    if (!policy) return tl::make_unexpected(policy.error());
    simulation_policy_ = std::move(*policy);
    plane.simulation_policy = simulation_policy_;
    plane.enabled_controllers = config_.controllers;
    plane.node_grace = config_.minions.grace_period;
    const auto& limits = config_.cluster;
    plane.capacity = {static_cast<std::uint64_t>(limits.max_pods),
                      static_cast<std::uint64_t>(limits.max_objects),
                      static_cast<std::uint64_t>(limits.max_bytes.bytes)};
    plane.events = {static_cast<std::size_t>(config_.store.max_events),
                    static_cast<std::size_t>(config_.store.max_event_bytes.bytes)};
    plane.issuer = accounts_;
    plane.authority = authority_;
    plane.local_path_class = true;
    plane.default_load_balancer =
        config_.network.load_balancers == config::load_balancers::default_class;
    auto reserved = reserved_ports(config_);
    if (!reserved) return tl::make_unexpected(reserved.error());
    plane.reserved_ports = std::move(*reserved);
    signer_ = std::make_shared<server::node_signer>(config_.server.node_certificate_lifetime);
    plane.certificates = signer_;
    auto services_v6 = ipv6_services(config_.network);
    if (!services_v6) return tl::make_unexpected(services_v6.error());
    plane.services_v6 = std::move(*services_v6);
    if (config_.kubelet.runtime != config::pod_runtime::simulated) {
      auto ranges = make_pod_ranges(config_);
      if (!ranges) return tl::make_unexpected(ranges.error());
      plane.ranges_of_pods = std::move(*ranges);
    }
    plane.legacy_token_secrets =
        config_.service_account.legacy_token_secrets == config::legacy_token_secrets::on;
    plane.controllers = shared_ == nullptr;  // else when elected
    plane_ = std::make_unique<actors::control_plane>(*system_, *store_, std::move(plane));
    accounts_->record_uses([plane = plane_.get()](persistence::transaction write) {
      plane->commit(std::move(write), 0, [](const auto&) {});
    });
    if (store_->is_shared())
      accounts_->wait_for_others([store = store_.get()](std::function<void()> done) {
        store->barrier([done = std::move(done)](const auto&) { done(); });
      });
    prepared_ = std::async([this] { return server::prepare_cluster(*plane_); });
    return {};
  }

  tl::expected<std::string, std::string> start_server() {
    server::rest_options rest;
    if (config_.kubelet.runtime != config::pod_runtime::simulated) {
      kubelet_ = make_kubelet_options(config_, config_.kubelet.node_name);
      rest.logs = kubelet_->containers;
      rest.streams = kubelet_->containers;
      if (enforces_policies(config_, runs_images(*kubelet_)))
        rest.enforced = {&api::kind_of<api::networking::v1::NetworkPolicy>()};
    }
    permissions_ = server::authorization{
        {std::make_shared<server::join_authorizer>(),
         std::make_shared<server::node_authorizer>(plane_->node_graph(), *store_),
         std::make_shared<server::rbac_authorizer>(plane_->policy())}};
    rest.permissions = &permissions_;
    rest.accounts = accounts_;
    rest.reviewer = &reviewer_;
    rest.front_proxy = front_proxy_;
    rest.observe = [this](const server::request_record& seen) { console_->observe(seen); };
    api_ = std::make_unique<server::api_server>(*plane_, std::move(rest));
    console_ = std::make_unique<server::console>(
        *plane_, *api_,
        server::console_options{
            .node = config_.kubelet.node_name,
            .others = std::make_shared<linked_consoles>(*plane_, config_.kubelet.node_name)});
    const auto prepared = prepared_.get();
    if (!prepared) return tl::make_unexpected(prepared.error());
    add_health_checks(*prepared);
    auto options = make_frontend_options(config_);
    options.http.observe_refusal = [this](const server::refusal& refusal) {
      console_->refused(refusal);
    };
    join_ = std::make_unique<server::join_api>(api_->services(), signer_, *console_);
    server::frontend_parts parts;
    parts.keys = std::move(keys_);
    parts.api = join_.get();
    parts.console = console_.get();
    parts.health = &health_;
    parts.tokens = {std::make_shared<server::bootstrap_tokens>(*store_),
                    std::make_shared<server::user_tokens>(*store_), accounts_};
    parts.reviewer = &reviewer_;
    parts.authority = [held = authority_](const std::string& certificates) {
      held->replace(certificates);
    };
    parts.permissions = permissions_;
    parts.certificates = std::make_shared<server::node_certificates>(*store_);
    parts.signer = signer_;
    parts.front_proxy = [this](server::front_proxy_credentials credentials) {
      const auto authority = credentials.authority;
      front_proxy_->replace(std::move(credentials));
      const auto told = server::publish_authority(*plane_, authority);
      if (!told)
        spdlog::error("server: the authority of the front proxy is not published: {}",
                      told.error());
      return told.has_value();
    };
    if (options.legacy_listen) {
      legacy_api_ = std::make_unique<server::legacy_api>(api_->services());
      parts.legacy_api = legacy_api_.get();
    }
    auto front = server::api_frontend::start(std::move(options), std::move(parts));
    if (!front) return tl::make_unexpected(front.error());
    front_ = std::move(*front);
    if (auto told = server::publish_api_address(*plane_, front_->address()); !told)
      spdlog::warn("server: the Service default/kubernetes is not up to date: {}", told.error());
    const auto reachable = addresses_to_join();
    accounts_->address(reachable.api);
    join_->addresses(reachable);
    await_joined_nodes();
    if (const auto& legacy = front_->legacy_address())
      spdlog::info("the v1beta1 API is served at http://{}", server::to_string(*legacy));
    console_->transport([front = front_.get()] { return front->stats(); });
    return server::to_string(front_->address());
  }

  // With upstream's names for the same states.
  void add_health_checks(bool has_default_objects) {
    using enum server::health_checks::kind;
    const auto writable = [store = store_.get()]() -> std::optional<std::string> {
      if (const auto refused = store->refusal()) return refused->message;
      if (store->stats().read_only) return "the store is read-only";
      return std::nullopt;
    };
    for (const auto* name : {"etcd", "etcd-readiness"})
      health_.add(name, ready, writable);
    const auto defaults = [has_default_objects]() -> std::optional<std::string> {
      if (!has_default_objects) return "the default objects could not be written";
      return std::nullopt;
    };
    for (const auto* name :
         {"poststarthook/rbac/bootstrap-roles", "poststarthook/kube-apiserver-autoregistration",
          "autoregister-completion"})
      health_.add(name, ready, defaults);
    // Without the system's namespaces and priority classes the node does not start.
    for (const auto* name : {"poststarthook/start-system-namespaces-controller",
                             "poststarthook/scheduling/bootstrap-system-priority-classes"})
      health_.add(name, live, [] { return std::nullopt; });
  }

  // The address that the owner configured, else the listening address, else the address that others
  // most likely reach.
  server::join_addresses addresses_to_join() const {
    auto address = front_->address();
    const bool named = !config_.server.names.empty() && !server::is_loopback(address.host);
    address.host = named ? config_.server.names.front() : server::reachable_address(address.host);
    server::join_addresses known{server::to_string(address), server::is_loopback(address.host)};
    if (shared_ != nullptr) {
      const auto& etcd = config_.etcd;
      known.node = config_.kubelet.node_name;
      known.etcd_endpoints = fmt::format("{}", fmt::join(etcd.endpoints, ","));
      for (const auto& [into, file] : {std::pair{&known.etcd_authority, &etcd.ca},
                                       {&known.etcd_certificate, &etcd.cert},
                                       {&known.etcd_key, &etcd.key}})
        if (!file->empty()) *into = std::filesystem::absolute(*file).string();
    }
    return known;
  }

  void await_joined_nodes() {
    auto listen = link_address(config_);
    link_ = std::make_unique<link_service>(
        *plane_, link_service_options{
                     .listen = {std::move(listen.host), listen.port},
                     .credentials =
                         [front = front_.get()] {
                           const auto shown = front->identity();
                           return runtime::link::credentials{shown.certificates, shown.private_key,
                                                             shown.client_authority};
                         },
                     .listening =
                         [this](const runtime::link::address& address) {
                           const bool all = server::is_wildcard(address.host);
                           join_->link_address(all ? fmt::format(":{}", address.port)
                                                   : server::to_string(server::endpoint{
                                                         address.host, address.port}));
                           link_port_ = address.port;
                         },
                     .refused =
                         [front = front_.get()](const runtime::link::refusal& seen) {
                           front->note_refusal(as_refusal(seen));
                         }});
    console_->link_listener([link = link_.get()] { return link->stats(); });
  }

  // How other control planes and machines reach this one. Called on any thread.
  actors::api_server_record own_record() const {
    const auto& api = front_->address();
    actors::api_server_record own;
    own.name = config_.kubelet.node_name;
    own.api = server::to_string(server::endpoint{server::reachable_address(api.host), api.port});
    const auto& named = config_.link.listen;
    const auto& host = named.empty() ? api.host : named.host;
    if (const auto port = link_port_.load(); port != 0)
      own.link = server::to_string(server::endpoint{server::reachable_address(host), port});
    const auto shown = front_->identity();
    own.key_hash = server::x509::key_hash(shown.certificates).value_or("");
    return own;
  }

  void stand_beside_others() {
    shared_plane_options options;
    options.own = [this] { return own_record(); };
    options.key = node_key_;
    options.signer = signer_;
    options.answers.node = config_.kubelet.node_name;
    if (kubelet_) {
      options.answers.logs = kubelet_->containers;
      options.answers.streams = kubelet_->containers;
    }
    if (node_key_) {
      own_console_->open(*system_, config_.kubelet.node_name);
      options.answers.console = answers_of(own_console_);
    }
    beside_ = std::make_unique<shared_plane>(*plane_, std::move(options));
  }

  void end_link() {
    if (console_) console_->link_listener({});
    link_.reset();
  }

  tl::expected<void, std::string> start_network() {
    const auto& api = front_->address();
    auto made =
        make_node_network(config_, config_.kubelet.node_name, kubelet_ && runs_images(*kubelet_),
                          server::is_loopback(api.host) ? api.port : std::uint16_t{0});
    if (!made) return tl::make_unexpected(made.error());
    network_ = std::move(*made);
    if (!network_) return {};
    if (network_->has_api_address())
      if (auto also = front_->listen({actors::defaults::api_service_address, api.port}); !also)
        return tl::make_unexpected(also.error());
    network_->follow(*system_, plane_->core_actors().watcher);
    return {};
  }

  tl::expected<void, std::string> start_nodes() {
    const auto& from = config_.kubelet;
    if (!kubelet_) {
      actors::simulated_fleet_options fleet;
      fleet.nodes = static_cast<std::uint32_t>(std::max<std::int64_t>(from.simulated_nodes, 1));
      fleet.like = make_simulated_node(from);
      fleet.like.policy = simulation_policy_;
      actors::spawn_simulated_fleet(*system_, plane_->core_actors(), std::move(fleet));
      return {};
    }
    if (shared_ != nullptr) {
      auto key = own_node_key::make(from.node_name);
      if (!key) return tl::make_unexpected(key.error());
      node_key_ = std::move(*key);
      kubelet_->node_key = node_key_->hash;
    }
    kubelet_->tokens = plane_->tokens();
    if (network_) {
      kubelet_->guard = network_->guard();
      kubelet_->network_problem = network_->pod_problem();
    }
    kubelet_->address = server::reachable_address(config_.server.listen.host);
    auto second = second_address(config_, kubelet_->address, server::interface_addresses());
    if (!second) return tl::make_unexpected(second.error());
    kubelet_->second_address = std::move(*second);
    const auto api = front_->address();
    kubelet_->api = {server::reachable_address(api.host), api.port};
    actors::spawn_kubelet(*system_, plane_->core_actors(), *kubelet_);
    return {};
  }

  const config::node_config& config_;
  std::future<tl::expected<credentials, std::string>> opened_;  // of open_credentials()
  bool first_start_ = false;                                    // there was no key directory
  std::unique_ptr<server::pki> keys_;                           // until the frontend takes them
  std::unique_ptr<persistence::store> store_;
  persistence::replicated_store* shared_ = nullptr;  // the same store, if others write to it too
  const std::shared_ptr<actors::cluster_authority> authority_ =
      std::make_shared<actors::cluster_authority>();
  const std::shared_ptr<server::front_proxy> front_proxy_ = std::make_shared<server::front_proxy>();
  std::shared_ptr<server::account_tokens> accounts_;
  std::shared_ptr<server::node_signer> signer_;
  server::token_reviewer reviewer_;
  std::unique_ptr<runtime::actor_system> system_;
  std::unique_ptr<actors::control_plane> plane_;
  std::future<tl::expected<bool, std::string>> prepared_;  // objects that every cluster has
  std::unique_ptr<term_manager> terms_;                    // null if no other may lead
  server::health_checks health_;
  server::authorization permissions_{{}};
  std::unique_ptr<actors::node_network> network_;  // null if disabled
  actors::simulated::policy_ptr simulation_policy_;
  std::optional<actors::kubelet_options> kubelet_;  // nullopt if pods are simulated
  std::unique_ptr<server::console> console_;        // observes requests while the API answers
  std::unique_ptr<server::api_server> api_;
  std::unique_ptr<server::join_api> join_;
  std::unique_ptr<server::legacy_api> legacy_api_;
  std::unique_ptr<server::api_frontend> front_;
  std::atomic<std::uint16_t> link_port_{0};  // 0: not listening yet
  std::unique_ptr<link_service> link_;
  // For other control planes.
  const std::shared_ptr<console_slot> own_console_ = std::make_shared<console_slot>();
  std::optional<own_node_key> node_key_;  // set if other control planes call this machine
  std::unique_ptr<shared_plane> beside_;  // null if there are no others
};

}  // namespace

std::unique_ptr<node_parts> compose(const config::node_config& config) {
  return std::make_unique<node>(config);
}

}  // namespace troupe::tools

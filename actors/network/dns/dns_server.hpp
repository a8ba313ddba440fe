// The cluster's DNS server on this node: UDP and TCP, on its own thread. It answers from a table,
// which is replaced when services change, and forwards other queries to the node's resolvers.
//
// Each query gets one answer, in bounded memory: UDP queries wait in the kernel's buffer, the
// number of TCP connections is limited, in total and for each client, and idle ones are closed, and
// the number of forwarded queries is limited too.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <tl/expected.hpp>
#include <unordered_map>
#include <vector>

#include "actors/kubelet/os/event_loop.hpp"
#include "actors/network/defaults.hpp"
#include "actors/network/dns/dns_answer.hpp"
#include "actors/network/dns/dns_forwarder.hpp"
#include "actors/network/dns/dns_socket.hpp"

namespace troupe::actors::dns {

struct dns_server_options {
  std::string address = network_defaults::dns_address;
  std::uint16_t port = network_defaults::dns_port;  // 0: any free one, the same for UDP and TCP
  std::string domain = network_defaults::cluster_domain;
  // Other names are forwarded to these. Called on the server's thread.
  resolver_list resolvers = [] { return std::vector<socket_address>{}; };
};

class dns_server {
 public:
  static tl::expected<std::unique_ptr<dns_server>, std::string> start(dns_server_options options);
  ~dns_server();

  // Replaces the table. Thread safe.
  void table(table_ptr now);
  // How often it has stopped to accept connections for lack of file descriptors or memory.
  std::uint64_t accept_pauses() const noexcept { return accept_pauses_; }
  const socket_address& address() const { return at_; }

 private:
  struct connection;
  using connection_ptr = std::shared_ptr<connection>;
  struct datagrams;
  using deliver = std::function<void(std::string)>;

  dns_server(dns_server_options options, std::string domain);
  tl::expected<void, std::string> open(const dns_server_options& options);
  table_ptr table() const;
  void serve_datagrams();
  void send_to(const socket_address& peer, std::string bytes);
  void send_collected();
  void serve_connections();
  void open_connection(runtime::unique_fd fd, const std::string& client);
  void pause_connections(int error);
  void read(const connection_ptr& c);
  void write(const connection_ptr& c);
  void next_question(const connection_ptr& c);
  void expect(const connection_ptr& c, event_loop::readiness wanted);
  void close(const connection_ptr& c);
  // Calls `done` now or later, with an empty text if the query gets no answer.
  void respond(std::string_view bytes, bool stream, deliver done);
  void forward(question asked, answer known, bool stream, std::size_t limit_bytes, deliver done);

  const std::string domain_;
  socket_address at_;
  runtime::unique_fd datagram_, listener_;
  std::unique_ptr<datagrams> batch_;
  mutable std::mutex mutex_;
  table_ptr table_ = std::make_shared<const dns_table>();  // guarded by `mutex_`
  std::minstd_rand random_{std::random_device{}()};
  std::atomic<std::uint64_t> accept_pauses_{0};
  std::unordered_map<int, connection_ptr> connections_;
  bool accepting_ = true;
  std::unique_ptr<dns_forwarder> forwarder_;
  event_loop loop_;  // its thread uses the members above
};

}  // namespace troupe::actors::dns

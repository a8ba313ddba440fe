// The cluster's DNS on this node: UDP and TCP, on one thread of its own. It answers from a table
// that it is given, as often as that changes, and forwards the rest to the node's resolvers.
//
// Whoever sends gets one answer for each question, in bounded memory: questions of UDP wait in the
// kernel's buffer, connections are so many at most and end when nothing comes or nobody reads, and
// questions under way elsewhere are bounded too.
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
  std::uint16_t port = network_defaults::dns_port;  // 0: a free one, the same for UDP and TCP
  std::string domain = network_defaults::cluster_domain;
  // "HOST:PORT" has no place in resolv.conf: tests name ports here.
  std::vector<socket_address> resolvers = {};
};

struct dns_counts {
  std::uint64_t answered = 0, forwarded = 0, failed = 0, malformed = 0;
};

class dns_server {
 public:
  static tl::expected<std::unique_ptr<dns_server>, std::string> start(dns_server_options options);
  ~dns_server();

  // From now on. Thread safe.
  void table(table_ptr now);
  dns_counts counts() const;
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
  void read(const connection_ptr& c);
  void write(const connection_ptr& c);
  void next_question(const connection_ptr& c);
  void expect(const connection_ptr& c, event_loop::readiness wanted);
  void close(const connection_ptr& c);
  // Calls `done` at once or later, with nothing where silence is the answer.
  void respond(std::string_view bytes, bool stream, deliver done);
  void forward(question asked, answer known, bool stream, std::size_t limit_bytes, deliver done);

  const std::string domain_;
  socket_address at_;
  runtime::unique_fd datagram_, listener_;
  std::unique_ptr<datagrams> batch_;
  mutable std::mutex mutex_;
  table_ptr table_ = std::make_shared<const dns_table>();  // under `mutex_`
  std::minstd_rand random_{std::random_device{}()};
  std::atomic<std::uint64_t> answered_{0}, forwarded_{0}, failed_{0}, malformed_{0};
  std::unordered_map<int, connection_ptr> connections_;
  std::unique_ptr<dns_forwarder> forwarder_;
  event_loop loop_;  // its thread uses all above
};

}  // namespace troupe::actors::dns

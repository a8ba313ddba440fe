// Names and services: DNS answers, and the time until a change is in DNS and in the kernel.
//
// The node runs in a network namespace of its own: the machine's rules are not changed.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "actors/network/dns/dns_name.hpp"
#include "actors/network/dns/dns_server.hpp"
#include "actors/network/dns/service_records.hpp"
#include "actors/network/services/nft_process.hpp"
#include "api/schema/core_service.pb.h"
#include "api/scheme.hpp"
#include "benchmark/node.hpp"
#include "benchmark/rows.hpp"
#include "runtime/unique_fd.hpp"

namespace troupe::bench {
namespace {

using namespace std::chrono_literals;
using actors::dns::dns_server;
using runtime::unique_fd;

constexpr int services = 1'000, named_services = 10'000, changes = 40;
const test::http_client::fields json{{"content-type", "application/json"}};

sockaddr_in address_of(const std::string& host, std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &at.sin_addr) != 1) die("no address: " + host);
  return at;
}

unique_fd open_socket(int type) {
  unique_fd fd{::socket(AF_INET, type | SOCK_CLOEXEC, 0)};
  if (!fd) die("no socket");
  return fd;
}

// Whether the descriptor becomes readable within the limit.
bool readable(int fd, std::chrono::milliseconds limit) {
  pollfd waits{fd, POLLIN, 0};
  return ::poll(&waits, 1, static_cast<int>(limit.count())) == 1;
}

// -- DNS ------------------------------------------------------------------------------------------

std::string question(const std::string& name, std::uint16_t id) {
  std::string out{static_cast<char>(id >> 8), static_cast<char>(id)};
  out += std::string("\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00", 10);
  out += *actors::dns::to_wire(name);
  out += '\0';
  return out + std::string("\0\1\0\1", 4);
}

std::string service_name(int number) {
  return fmt::format("s{}.default.svc.cluster.local", number);
}

actors::dns::table_ptr table_of(int count) {
  actors::dns::table_maker maker;
  const auto domain = *actors::dns::to_wire("cluster.local");
  for (int i = 0; i < count; ++i) {
    auto body = std::make_unique<api::core::v1::Service>();
    body->mutable_metadata()->set_name(fmt::format("s{}", i));
    body->mutable_metadata()->set_namespace_("default");
    body->mutable_spec()->set_cluster_ip(fmt::format("10.96.{}.{}", i / 250 + 1, i % 250 + 1));
    const api::object service{api::kind_of<api::core::v1::Service>(), std::move(body), 1};
    maker.replace(service.meta().name(), actors::dns::records_of(service, {}, domain));
  }
  return maker.table();
}

struct dns_load {
  double per_second = 0;
  double p99_ms = 0;
  std::size_t lost = 0;
};

// Sends questions for `during`, with `under_way` of them in flight and at most `per_second` (0: as
// fast as they are answered).
dns_load ask_server(const dns_server& server, std::size_t under_way, double per_second,
                    std::chrono::milliseconds during) {
  const auto fd = open_socket(SOCK_DGRAM);
  const auto& to = server.address();
  if (::connect(fd.get(), to.get(), to.size) != 0) die("no connection to the DNS server");
  std::vector<clock::time_point> sent_at(65'536);
  std::vector<double> took;
  std::array<char, 2'048> answer;
  std::uint64_t sent = 0, got = 0;
  const auto start = clock::now();
  for (auto now = start; now - start < during; now = clock::now()) {
    const auto due = per_second > 0 ? static_cast<std::uint64_t>(seconds_since(start) * per_second)
                                    : sent + under_way;
    for (; sent < due && sent - got < under_way; ++sent) {
      const auto id = static_cast<std::uint16_t>(sent);
      const auto text = question(service_name(static_cast<int>(sent * 7919 % named_services)), id);
      sent_at[id] = clock::now();
      if (::send(fd.get(), text.data(), text.size(), 0) < 0) die("a question was not sent");
    }
    if (!readable(fd.get(), sent == got ? 0ms : 100ms)) continue;
    for (ssize_t size = 0;
         (size = ::recv(fd.get(), answer.data(), answer.size(), MSG_DONTWAIT)) > 11;) {
      const auto id = static_cast<std::uint16_t>(static_cast<unsigned char>(answer[0]) << 8 |
                                                 static_cast<unsigned char>(answer[1]));
      took.push_back(seconds_since(sent_at[id]) * 1e3);
      ++got;
    }
  }
  if (took.empty()) die("the DNS server answers nothing");
  return {static_cast<double>(got) / seconds_since(start), percentile(took, 99), sent - got};
}

void measure_names(results& out) {
  auto started = dns_server::start({.address = "127.0.0.1", .port = 0});
  if (!started) die(started.error());
  auto& server = **started;
  server.table(table_of(named_services));
  constexpr std::size_t window = 64;
  ask_server(server, window, 0, 500ms);
  const auto full = ask_server(server, window, 0, 3s);
  const auto half = ask_server(server, window, full.per_second / 2, 3s);
  out.add("DNS: answers of one thread, 10,000 services, beside its client", full.per_second, "/s",
          at_least(40'000));
  out.add("… at half of that, p99", half.p99_ms, "ms", at_most(2));
}

// -- a node ---------------------------------------------------------------------------------------

// Sets up loopback as on a machine whose default route covers all service addresses.
void set_up_namespace() {
  const auto fd = open_socket(SOCK_DGRAM);
  ifreq request{};
  std::snprintf(request.ifr_name, sizeof request.ifr_name, "lo");
  request.ifr_flags = IFF_UP;
  if (::ioctl(fd.get(), SIOCSIFFLAGS, &request) != 0) die("loopback cannot be set up");
  if (std::system("ip addr add 192.0.2.1/32 dev lo && ip addr add 192.0.2.2/32 dev lo && "
                  "ip route add 10.96.0.0/12 dev lo src 192.0.2.1") != 0)
    die("the namespace has no routes (ip of iproute2)");
}

void send(test::http_client& client, const std::string& method, const std::string& path,
          const std::string& body) {
  const auto answer = client.request(method, path, body, json);
  if (answer.status / 100 != 2) die(fmt::format("{} {}: {}", method, path, answer.body));
}

std::string slice_json(int number, const std::string& address) {
  return fmt::format(
      R"({{"metadata":{{"name":"s{0}","labels":{{"kubernetes.io/service-name":"s{0}"}}}},
"addressType":"IPv4","ports":[{{"name":"","port":8080,"protocol":"TCP"}}],
"endpoints":[{{"addresses":["{1}"],"conditions":{{"ready":true}}}}]}})",
      number, address);
}

const std::string slices_path = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

void create_services(test::http_client& client) {
  for (int i = 0; i < services; ++i) {
    send(client, "POST", "/api/v1/namespaces/default/services",
         fmt::format(R"({{"metadata":{{"name":"s{}"}},"spec":{{"clusterIP":"10.96.{}.{}",
"ports":[{{"port":80,"targetPort":8080}}]}}}})",
                     i, i / 250 + 1, i % 250 + 1));
    send(client, "POST", slices_path, slice_json(i, "192.0.2.1"));
  }
}

class listener {
 public:
  explicit listener(const std::string& host) : fd_{open_socket(SOCK_STREAM | SOCK_NONBLOCK)} {
    const auto at = address_of(host, 8080);
    if (::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
        ::listen(fd_.get(), 1'024) != 0)
      die("no listener at " + host);
  }
  // Accepts a waiting connection; false if there is none.
  bool take() const {
    bool any = false;
    while (unique_fd{::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC)})
      any = true;
    return any;
  }

 private:
  unique_fd fd_;
};

// Connects to the last service; fails after a short time.
void try_service() {
  const auto fd = open_socket(SOCK_STREAM | SOCK_NONBLOCK);
  const auto last = services - 1;
  const auto at = address_of(fmt::format("10.96.{}.{}", last / 250 + 1, last % 250 + 1), 80);
  ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at);
}

double until_reached_ms(const listener& there, clock::time_point since) {
  while (!there.take()) {
    if (seconds_since(since) > 30) die("the service was not reached");
    try_service();
  }
  return seconds_since(since) * 1e3;
}

void measure_rules(results& out, const bench_options& options) {
  const scratch place;
  const std::vector<std::string> flags{"--network-mode", "services"};
  {
    const node n{options.program, place.path(), 1, flags};
    auto client = n.client();
    create_services(client);
  }
  // Removes old rules, so that they are not taken for new ones.
  const auto removed =
      actors::services::run_nft({*actors::services::find_nft()}, "delete table ip troupe\n", 10s);
  if (!removed) die(removed.error());
  const listener first{"192.0.2.1"}, second{"192.0.2.2"};
  const node n{options.program, place.path(), 1, flags};
  const auto ready = clock::now();
  const auto at_start = until_reached_ms(first, ready);
  auto client = n.client();
  std::vector<double> took;
  for (int i = 0; i < changes; ++i) {
    std::this_thread::sleep_for(30ms);
    const auto& next = i % 2 == 0 ? second : first;
    next.take();
    const auto began = clock::now();
    send(client, "PUT", fmt::format("{}/s{}", slices_path, services - 1),
         slice_json(services - 1, i % 2 == 0 ? "192.0.2.2" : "192.0.2.1"));
    took.push_back(until_reached_ms(next, began));
  }
  out.add("1,000 services: in the kernel after the node is ready", at_start / 1e3, "s", at_most(1));
  out.add("… an endpoint changes: from the request to the kernel, p50", percentile(took, 50), "ms",
          at_most(30));
}

// Measures how soon the node's DNS answers with a changed endpoint of a headless service.
void measure_age(results& out, const bench_options& options) {
  const scratch place;
  const node n{options.program, place.path(), 1, {"--network-mode", "services"}};
  auto client = n.client();
  send(client, "POST", "/api/v1/namespaces/default/services",
       R"({"metadata":{"name":"h"},"spec":{"clusterIP":"None","ports":[{"port":80}]}})");
  const auto slice = [](int number) {
    return fmt::format(R"({{"metadata":{{"name":"h","labels":{{"kubernetes.io/service-name":"h"}}}},
"addressType":"IPv4","ports":[],"endpoints":[{{"addresses":["10.42.0.{}"]}}]}})",
                       number);
  };
  send(client, "POST", slices_path, slice(1));
  const auto fd = open_socket(SOCK_DGRAM);
  const auto server = address_of("10.96.0.10", 53);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&server), sizeof server) != 0)
    die("no connection to the node's DNS");
  const auto text = question("h.default.svc.cluster.local", 1);
  std::array<char, 2'048> answer;
  std::vector<double> took;
  for (int i = 2; i < 2 + changes; ++i) {
    std::this_thread::sleep_for(30ms);
    const std::string wanted{"\x0a\x2a\x00", 3};
    const auto began = clock::now();
    send(client, "PUT", slices_path + "/h", slice(i));
    const auto committed = clock::now();
    for (bool seen = false; !seen;) {
      if (seconds_since(began) > 10) die("the change is not seen in DNS");
      if (::send(fd.get(), text.data(), text.size(), 0) < 0 || !readable(fd.get(), 100ms)) continue;
      const auto size = ::recv(fd.get(), answer.data(), answer.size(), 0);
      const std::string_view heard{answer.data(),
                                   static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
      seen = heard.ends_with(wanted + static_cast<char>(i));
    }
    took.push_back(seconds_since(committed) * 1e3);
  }
  out.add("DNS: age of an answer after a change was stored, most", percentile(took, 100), "ms",
          at_most(20));
}

std::string missing() {
  if (!actors::services::find_nft()) return "the program nft is not installed";
  if (!actors::services::may_change_network()) return "it needs the right to change the network";
  return {};
}

}  // namespace

void measure_network(results& out, const bench_options& options) {
  measure_names(out);
  if (const auto reason = missing(); !reason.empty()) {
    std::fprintf(stderr, "tools/bench: rules of services are left out: %s\n", reason.c_str());
    return;
  }
  // Programs and threads inherit the network namespace of the thread that starts them.
  std::exception_ptr failed;
  std::thread{[&] {
    try {
      if (::unshare(CLONE_NEWNET) != 0) die("no network namespace");
      set_up_namespace();
      measure_rules(out, options);
      measure_age(out, options);
    } catch (...) {
      failed = std::current_exception();
    }
  }}.join();
  if (failed) std::rethrow_exception(failed);
}

}  // namespace troupe::bench

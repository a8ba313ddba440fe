// Streams into containers: what the API adds to the runtime's own.
#include <fmt/format.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "benchmark/container_node.hpp"
#include "benchmark/rows.hpp"
#include "server/fixtures/stream_clients.hpp"

namespace troupe::bench {
namespace {

using server::testing::spdy_client;
using server::testing::websocket_client;

constexpr int commands = 150, forwards = 7, forwarded_mb = 128;

test::wire_options plain_address(const std::string& url) {
  test::wire_options to;
  to.tls = false;
  const auto host = url.find("//") + 2, colon = url.find(':', host);
  to.host = url.substr(host, colon - host);
  to.port = static_cast<std::uint16_t>(std::atoi(url.c_str() + colon + 1));
  to.timeout = std::chrono::seconds{60};
  return to;
}

// The same command over the runtime's own streaming server.
double stream_ms(const std::string& url) {
  const auto began = clock::now();
  spdy_client client{plain_address(url),
                     url.substr(url.find('/', 8)),
                     {{"X-Stream-Protocol-Version", "v4.channel.k8s.io"}}};
  if (client.head().status != 101) die("exec: " + client.head().body);
  const auto status = client.open({{"streamtype", "error"}});
  for (const auto* type : {"stdout", "stderr"})
    client.open({{"streamtype", type}});
  if (!client.await([&] { return client.got(status).find("Success") != std::string::npos; }))
    die("exec has failed: " + client.got(status));
  return seconds_since(began) * 1e3;
}

double exec_ms(const node& n, const std::string& pod) {
  const auto began = clock::now();
  websocket_client client{n.address(),
                          core + "pods/" + pod + "/exec?command=true&stdout=1&stderr=1",
                          "v5.channel.k8s.io"};
  if (client.head().status != 101) die("exec: " + client.head().body);
  std::string last;
  while (auto next = client.next())
    last = std::move(*next);
  if (last.find("Success") == last.npos) die("exec has failed: " + last);
  return seconds_since(began) * 1e3;
}

// Megabytes a second from a port that sends `forwarded_mb`.
double forward_mb_s(const test::wire_options& where, const std::string& path) {
  spdy_client client{where, path, {{"X-Stream-Protocol-Version", "portforward.k8s.io"}}};
  if (client.head().status != 101) die("port-forward: " + client.head().body);
  const auto open = [&](const std::string& type) {
    return client.open({{"streamtype", type}, {"port", "7000"}, {"requestid", "0"}});
  };
  open("error");
  const auto data = open("data");
  client.send(data, "go\n");
  const std::size_t wanted = std::size_t{forwarded_mb} << 20;
  const auto began = clock::now();
  if (!client.await([&] { return client.got(data).size() >= wanted || client.ended(data); }) ||
      client.got(data).size() < wanted)
    die(fmt::format("port-forward brought {} bytes", client.got(data).size()));
  return forwarded_mb / seconds_since(began);
}

// A pod whose port 7000 sends `forwarded_mb`. Returns the id of its container.
std::string start_pod(const node& n) {
  const auto source = fmt::format(
      "while true; do nc -l -p 7000 -e sh -c \"read x; head -c {} "
      "/dev/zero\"; done",
      forwarded_mb << 20);
  post(n, core + "pods",
       fmt::format(R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"streams"}},"spec":)"
                   R"({{"terminationGracePeriodSeconds":0,"containers":[{{"name":"c",{},)"
                   R"("command":["sh","-c",{:?}]}}]}}}})",
                   image, source));
  pods_in_phase{n}.await(1);
  return after(n.client().get(core + "pods/streams").body, "\"containerID\":\"containerd://");
}

// In turns, because each leaves the runtime work after its end.
void measure_commands(results& out, const node& n, bare_client& bare,
                      const std::string& container) {
  const auto synchronous = [&] {
    const auto began = clock::now();
    bare.run(container, "true");
    return seconds_since(began) * 1e3;
  };
  const std::array<std::function<double()>, 3> ways{
      [&] { return exec_ms(n, "streams"); }, synchronous,
      [&] { return stream_ms(bare.exec(container)); }};
  std::array<std::vector<double>, 3> took;
  for (std::size_t i = 0; i < commands; ++i)
    for (std::size_t k = 0; k < ways.size(); ++k) {
      const auto way = (i + (i % 2 == 0 ? k : ways.size() - k)) % ways.size();
      took.at(way).push_back(ways.at(way)());
    }
  const auto ours = percentile(took[0], 50);
  out.add("a command in a container by the API, p50", ours, "ms");
  out.add("… over the runtime's own ExecSync", ours - percentile(took[1], 50), "ms", at_most(10));
  out.add("… over the runtime's own stream", ours - percentile(took[2], 50), "ms");
}

void measure_forwarding(results& out, const node& n, bare_client& bare) {
  std::vector<double> through, direct;
  for (int i = 0; i < forwards; ++i) {
    through.push_back(forward_mb_s(n.address(), core + "pods/streams/portforward"));
    const auto url = bare.forward("streams");
    direct.push_back(forward_mb_s(plain_address(url), url.substr(url.find('/', 8))));
  }
  out.add("port-forward over TLS", percentile(through, 50), "MB/s");
  out.add("… over the runtime's own stream", percentile(through, 50) / percentile(direct, 50), "x",
          at_least(0.8));
}

}  // namespace

void measure_streams(results& out, const bench_options& options) {
  if (!container_node::can_run()) return;
  container_node on{options.program};
  const auto container = start_pod(on.n);
  measure_commands(out, on.n, on.bare, container);
  measure_forwarding(out, on.n, on.bare);
  must(on.n.client().request("DELETE", core + "pods/streams"));
  on.await_no_pods();
}

}  // namespace troupe::bench

// The pod network without containers: machines on one link with a pod each, all of
// them network namespaces. This machine's own network is not touched.
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "actors/network/dns/dns_socket.hpp"
#include "actors/network/routing/machine_network.hpp"
#include "actors/network/services/nft_process.hpp"
#include "runtime/unique_fd.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/kubectl.hpp"
#include "system/network/network_space.hpp"
#include "system/network/pod_machine.hpp"
#include "system/network/speaker.hpp"
#include "system/node.hpp"

namespace troupe::test {

using namespace actors::routing;
using Catch::Matchers::Contains;

namespace {

api::cidr range_of(int number) {
  return *api::cidr::parse("10.42." + std::to_string(number) + ".0/24");
}

api::cidr range_v6_of(int number) {
  return *api::cidr::parse("fd00:42:0:" + std::to_string(number) + "::/64");
}

std::string address_of(int number) {
  return "192.0.2." + std::to_string(number);
}

std::string address_v6_of(int number) {
  return "2001:db8:77::" + std::to_string(number);
}

std::string pod_address(int number) {
  return "10.42." + std::to_string(number) + ".9";
}

std::string pod_address_v6(int number) {
  return "fd00:42:0:" + std::to_string(number) + "::9";
}

// One end of a pair of devices in each.
void connect(const network_space& a, const std::string& device_a, const network_space& b,
             const std::string& device_b) {
  runtime::unique_fd other;
  b.run([&] { other = runtime::unique_fd{::open("/proc/thread-self/ns/net", O_RDONLY)}; });
  a.run([&] {
    const auto end = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(other.get());
    REQUIRE(std::system(
                ("ip link add " + device_a + " type veth peer name " + device_b + " netns " + end)
                    .c_str()) == 0);
  });
}

// A machine with a pod, and a folder where its container runtime looks for networks.
class routed_machine {
 public:
  routed_machine(int number, const scratch_folder& folder)
      : number_{number}, folder_{folder.path() / std::to_string(number)} {
    std::filesystem::create_directories(folder_);
    options.addresses = folder_ / "addresses";
    options.marker = folder_ / "marker";
    options.cluster = {*api::cidr::parse("10.42.0.0/16"), *api::cidr::parse("fd00:42::/56")};
    options.cni_folder = [this]() -> tl::expected<std::filesystem::path, std::string> {
      return folder_ / "net.d";
    };
  }

  void add_pod() {
    connect(machine, "veth", pod, "eth0");
    const auto number = std::to_string(number_);
    run("ip link set veth up && ip addr add 10.42." + number + ".1/32 dev veth && ip route add " +
        pod_address(number_) + " dev veth");
    REQUIRE(in(pod, "ip link set eth0 up && ip addr add " + pod_address(number_) +
                        "/24 dev eth0 && ip route del 10.42." + number +
                        ".0/24 && ip route add 10.42." + number +
                        ".1 dev eth0 && ip route add default via 10.42." + number + ".1"));
  }
  void add_ipv6_of_pod() {
    const auto gateway = "fd00:42:0:" + std::to_string(number_) + "::1";
    run("ip addr add " + gateway + "/128 dev veth nodad && ip route add " +
        pod_address_v6(number_) + " dev veth");
    REQUIRE(in(pod, "ip addr add " + pod_address_v6(number_) +
                        "/128 dev eth0 nodad && ip route add " + gateway +
                        " dev eth0 && ip route add default via " + gateway));
  }
  void run(const std::string& command) {
    INFO(command);
    REQUIRE(in(machine, command));
  }
  void in_pod(const std::string& command) { REQUIRE(in(pod, command)); }
  // The output of the command there.
  std::string said(const std::string& command) {
    run("(" + command + ") > " + (folder_ / "said").string());
    return read_file(folder_ / "said");
  }
  // Without what the kernel changes in time: the state of links, link-local addresses, which become
  // valid after a second, and the neighbors that it has learned.
  std::string everything() {
    return said(
        "ip -o link | sed 's/<[^>]*>//; s/ state [A-Z]*//'; ip -o addr | grep -v ' fe80:'; "
        "ip route; ip neigh show nud permanent; nft list tables");
  }
  std::string file() const { return read_file(folder_ / "net.d/10-troupe.conflist"); }
  std::filesystem::path networks() const { return folder_ / "net.d"; }

  // `v6`: with ranges of IPv6 too, of machines without addresses of IPv6.
  std::vector<std::string> make(const std::vector<int>& others, bool v6 = false) {
    node_ranges wanted;
    wanted.own = {range_of(number_)};
    wanted.own_address = address_of(number_);
    for (const int each : others)
      wanted.peers.push_back({"m" + std::to_string(each), range_of(each), address_of(each)});
    if (v6) {
      wanted.own.push_back(range_v6_of(number_));
      for (const int each : others)
        wanted.peers.push_back({"m" + std::to_string(each), range_v6_of(each), {}});
    }
    return make(wanted);
  }
  // With addresses and ranges of IPv6 only.
  std::vector<std::string> make_v6(int other) {
    node_ranges wanted;
    wanted.own = {range_v6_of(number_)};
    wanted.own_address_v6 = address_v6_of(number_);
    wanted.peers = {{"m" + std::to_string(other), range_v6_of(other), address_v6_of(other)}};
    return make(wanted);
  }
  std::vector<std::string> make(const node_ranges& wanted) {
    std::vector<std::string> problems;
    machine.run([&] { problems = make_machine_network(options, wanted).problems; });
    return problems;
  }
  void remove() {
    machine.run([&] {
      const auto removed = remove_machine_network(options.marker, options.addresses);
      INFO((removed ? "" : removed.error()));
      CHECK(removed);
    });
  }

  network_space machine, pod;
  machine_network_options options;

 private:
  static bool in(const network_space& space, const std::string& command) {
    int status = -1;
    space.run([&] { status = std::system((command + " 2>&1").c_str()); });
    return status == 0;
  }

  const int number_;
  const std::filesystem::path folder_;
};

struct two_machines {
  scratch_folder folder;
  routed_machine first{1, folder}, second{2, folder};

  explicit two_machines(route_mode mode = route_mode::automatic) {
    connect(first.machine, "wire", second.machine, "wire");
    int number = 0;
    for (auto* each : {&first, &second}) {
      each->run("ip link set wire up && ip addr add " + address_of(++number) + "/24 dev wire");
      each->options.routes = mode;
      each->add_pod();
    }
  }
};

bool can_run() {
  if (!actors::services::may_change_network()) return skip("routes need root"), false;
  if (!actors::services::find_nft()) return skip("the program nft is not installed"), false;
  if (std::system("command -v ip > /dev/null") != 0) return skip("iproute2 is missing"), false;
  return network_space::possible();
}

bool has_vxlan() {
  const network_space tried;
  int status = -1;
  tried.run([&] {
    status = std::system("ip link add vx type vxlan id 1 dstport 8472 local 127.0.0.1 2>/dev/null");
  });
  if (status != 0) skip("this kernel has no VXLAN");
  return status == 0;
}

using none = std::vector<std::string>;

// A link-local address becomes valid after a second.
const std::string everything_v6 =
    "ip -6 route; ip -6 -o addr | grep -v ' fe80:'; ip -6 neigh show nud permanent";

// -- packets that are put into the tunnel ---------------------------------------------------------

constexpr std::uint16_t pod_port = 8'080;

std::string bytes_of_ip(const std::string& address) {
  in_addr out{};
  REQUIRE(::inet_pton(AF_INET, address.c_str(), &out) == 1);
  return {reinterpret_cast<const char*>(&out), sizeof out};
}

std::string two_bytes(std::size_t number) {
  return {static_cast<char>(number >> 8), static_cast<char>(number & 0xff)};
}

std::string checksum_of(const std::string& header) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < header.size(); i += 2)
    sum += static_cast<std::uint32_t>(static_cast<unsigned char>(header[i])) << 8 |
           static_cast<unsigned char>(header[i + 1]);
  while (sum >> 16 != 0)
    sum = (sum & 0xffff) + (sum >> 16);
  return two_bytes(~sum & 0xffff);
}

// What the tunnel of that machine takes for a datagram to its pod: headers of VXLAN, Ethernet, IPv4
// and UDP.
std::string tunnel_packet(const api::cidr& machine, int pod, const std::string& text) {
  const auto vxlan = std::string("\x08\0\0\0\0\0\x01\0", 8);
  const auto ethernet = hardware_address(machine) + std::string("\x02\0\0\0\0\x77\x08\0", 8);
  const auto udp =
      two_bytes(pod_port) + two_bytes(pod_port) + two_bytes(8 + text.size()) + two_bytes(0) + text;
  const auto ip_begin =
      std::string("\x45\0", 2) + two_bytes(20 + udp.size()) + std::string("\0\0\0\0\x40\x11", 6);
  const auto addresses = bytes_of_ip("192.0.2.77") + bytes_of_ip(pod_address(pod));
  const auto checksum = checksum_of(ip_begin + two_bytes(0) + addresses);
  return vxlan + ethernet + ip_begin + checksum + addresses + udp;
}

struct tunnel_sender {
  std::string name;
  const network_space& space;
  std::string from, to;

  // To the pod of a machine with that tunnel.
  void send(const api::cidr& machine, int pod) const {
    space.run([&] {
      const auto source = actors::dns::make_address(from, 0),
                 target = actors::dns::make_address(to, 8'472);
      REQUIRE((source && target));
      const auto packet = tunnel_packet(machine, pod, name);
      const auto fd = actors::dns::open_server(*source, SOCK_DGRAM);
      INFO(name);
      REQUIRE(fd);
      REQUIRE(::sendto(fd->get(), packet.data(), packet.size(), 0, target->get(), target->size) ==
              static_cast<ssize_t>(packet.size()));
    });
  }
};

// A pod's socket.
class pod_listener {
 public:
  explicit pod_listener(const network_space& pod) {
    pod.run([&] {
      fd_ = actors::dns::open_server(*actors::dns::make_address("0.0.0.0", pod_port), SOCK_DGRAM)
                .value();
    });
  }
  // The next text; empty: none came.
  std::string next() const {
    char text[64];
    pollfd ready{fd_.get(), POLLIN, 0};
    if (::poll(&ready, 1, 60'000) != 1) return {};
    const auto size = ::recv(fd_.get(), text, sizeof text, 0);
    return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string{};
  }

 private:
  runtime::unique_fd fd_;
};

void remove_filter(routed_machine& of) {
  of.run("nft delete table ip troupe-tunnel");
  of.run("nft delete table ip6 troupe-tunnel 2>/dev/null || true");
}

// The packets of a node come, and none of others that were sent before.
void check_that_only(const tunnel_sender& node, const std::vector<tunnel_sender>& others,
                     const api::cidr& machine, int pod, const pod_listener& heard) {
  for (const auto& each : others)
    each.send(machine, pod);
  node.send(machine, pod);
  CHECK(heard.next() == node.name);
}

}  // namespace

TEST_CASE("pods of two machines on one link reach each other by direct routes",
          "[network][pod_network]") {
  if (!can_run()) return;
  two_machines of;
  CHECK(of.first.make({2}) == none{});
  CHECK(of.second.make({1}) == none{});
  const speaker first{of.first.pod, "one", SOCK_STREAM}, second{of.second.pod, "two", SOCK_STREAM};
  CHECK(call(of.first.pod, pod_address(2), 8080) == "two");
  CHECK(call(of.second.pod, pod_address(1), 8080) == "one");
  CHECK(call(of.first.machine, pod_address(2), 8080) == "two");
  CHECK_THAT(of.first.said("ip route"), Contains("10.42.2.0/24 via 192.0.2.2 dev wire proto 84"));
  CHECK_THAT(of.first.file(), Contains("\"subnet\":\"10.42.1.0/24\"") && Contains("\"mtu\":1450"));
}

TEST_CASE("pods of two machines reach each other through the tunnel", "[network][pod_network]") {
  if (!can_run() || !has_vxlan()) return;
  two_machines of{route_mode::tunnel};
  CHECK(of.first.make({2}) == none{});
  CHECK(of.second.make({1}) == none{});
  const speaker first{of.first.pod, "one", SOCK_STREAM}, second{of.second.pod, "two", SOCK_STREAM};
  CHECK(call(of.first.pod, pod_address(2), 8080) == "two");
  CHECK(call(of.second.pod, pod_address(1), 8080) == "one");
  CHECK(call(of.first.machine, pod_address(2), 8080) == "two");
  // The same again changes nothing.
  const auto before = of.first.everything();
  CHECK(of.first.make({2}) == none{});
  CHECK(of.first.everything() == before);
}

TEST_CASE("IPv6 addresses of pods go through the tunnel between machines that have only IPv4",
          "[network][pod_network]") {
  if (!can_run() || !has_vxlan() || !can_try_ipv6()) return;
  two_machines of;
  for (auto* each : {&of.first, &of.second})
    each->add_ipv6_of_pod();
  CHECK(of.first.make({2}, true) == none{});
  CHECK(of.second.make({1}, true) == none{});
  const speaker first{of.first.pod, "one", SOCK_STREAM, "::"},
      second{of.second.pod, "two", SOCK_STREAM, "::"};
  CHECK(call(of.first.pod, pod_address_v6(2), 8080) == "two");
  CHECK(call(of.second.pod, pod_address_v6(1), 8080) == "one");
  CHECK(call(of.first.machine, pod_address_v6(2), 8080) == "two");
  CHECK(call(of.first.pod, pod_address(2), 8080) == "two");
  CHECK_THAT(of.first.said("ip route; ip -6 route"),
             Contains("10.42.2.0/24 via 192.0.2.2 dev wire proto 84") &&
                 Contains("fd00:42:0:2::/64 via fd00:42:0:2:: dev troupe-vx proto 84"));
  // The same again changes nothing.
  const auto made = of.first.said(everything_v6);
  CHECK(of.first.make({2}, true) == none{});
  CHECK(of.first.said(everything_v6) == made);
  of.first.remove();
  CHECK_THAT(of.first.said("ip -6 route; ip -6 addr; ip link"), !Contains("troupe-vx"));
}

TEST_CASE(
    "pods of machines that have only IPv6 addresses reach each other through a tunnel of IPv6",
    "[network][pod_network]") {
  if (!can_run() || !has_vxlan() || !can_try_ipv6()) return;
  two_machines of{route_mode::tunnel};
  int number = 0;
  for (auto* each : {&of.first, &of.second}) {
    each->run("ip addr flush dev wire && ip addr add " + address_v6_of(++number) +
              "/64 dev wire nodad");
    each->add_ipv6_of_pod();
  }
  CHECK(of.first.make_v6(2) == none{});
  CHECK(of.second.make_v6(1) == none{});
  const speaker first{of.first.pod, "one", SOCK_STREAM, "::"},
      second{of.second.pod, "two", SOCK_STREAM, "::"};
  CHECK(call(of.first.pod, pod_address_v6(2), 8080) == "two");
  CHECK(call(of.second.pod, pod_address_v6(1), 8080) == "one");
  CHECK(call(of.first.machine, pod_address_v6(2), 8080) == "two");
  CHECK_THAT(of.first.file(), Contains("\"mtu\":1430"));
  // The same again changes nothing, not even the number of the device.
  const auto made = of.first.said("ip -o link; ip -6 route; bridge fdb");
  CHECK_THAT(made, Contains("troupe-vx"));
  CHECK(of.first.make_v6(2) == none{});
  CHECK(of.first.said("ip -o link; ip -6 route; bridge fdb") == made);
  of.first.remove();
  CHECK_THAT(of.first.said("ip -6 route; ip -6 addr; ip link"), !Contains("troupe-vx"));
}

TEST_CASE("a firewall that drops packets of pods is a problem until its chains accept them",
          "[network][pod_network]") {
  if (!can_run()) return;
  two_machines of;
  CHECK(of.second.make({1}) == none{});
  const speaker second{of.second.pod, "two", SOCK_STREAM};
  for (const auto* chain : {"ip filter FORWARD", "inet mine pass"}) {
    const std::string name{chain};
    of.first.run("nft add table " + name.substr(0, name.rfind(' ')) + " && nft 'add chain " + name +
                 " { type filter hook forward priority 0; policy drop; }'");
    INFO(name);
    const auto problems = of.first.make({2});
    CHECK(call(of.first.pod, pod_address(2), 8080, std::chrono::seconds{1}) == "dropped");
    REQUIRE(problems.size() == 1);
    INFO(problems[0]);
    CHECK_THAT(problems[0], Contains("has the policy drop and does not accept 10.42.0.0/16"));
    const std::string mark = "as root: ";
    of.first.run(problems[0].substr(problems[0].find(mark) + mark.size()));
    CHECK(of.first.make({2}) == none{});
    CHECK(call(of.first.pod, pod_address(2), 8080) == "two");
  }
}

TEST_CASE("pods of a machine without IPv6 have addresses of IPv4, until it has IPv6",
          "[network][pod_network]") {
  if (!can_run() || !has_vxlan() || !can_try_ipv6()) return;
  two_machines of;
  for (const auto* devices : {"all", "default"}) {
    const auto parameter = std::string{"/proc/sys/net/ipv6/conf/"} + devices + "/disable_ipv6";
    of.first.run("echo 1 > " + parameter);
    const auto problems = of.first.make({2}, true);
    REQUIRE(problems.size() == 1);
    CHECK_THAT(problems[0], Contains("IPv6 is missing in the kernel of this machine, or disabled"));
    CHECK_THAT(of.first.file(), Contains("10.42.1.0/24") && !Contains("fd00:42"));
    CHECK_THAT(of.first.said("ip route"), Contains("10.42.2.0/24 via 192.0.2.2"));
    of.first.run("echo 0 > " + parameter);
    CHECK(of.first.make({2}, true) == none{});
    CHECK_THAT(of.first.file(), Contains("fd00:42:0:1::/64"));
  }
}

TEST_CASE("only nodes can send into the tunnel, neither pods nor strangers",
          "[network][pod_network]") {
  if (!can_run() || !has_vxlan()) return;
  two_machines of{route_mode::tunnel};
  of.first.run("ip addr add 192.0.2.66/24 dev wire");
  REQUIRE(of.first.make({2, 3}) == none{});
  REQUIRE(of.second.make({1, 3}) == none{});
  const pod_listener first{of.first.pod}, second{of.second.pod};
  of.first.in_pod("ip addr add 192.0.2.3/32 dev lo");
  const auto &machine = of.first.machine, &pod = of.first.pod;
  const tunnel_sender node{"node", machine, address_of(1), address_of(2)};
  const std::vector<tunnel_sender> pods{
      {"pod", pod, pod_address(1), address_of(2)},
      {"pod with the address of a node", pod, address_of(3), address_of(2)}},
      strangers{{"stranger", machine, "192.0.2.66", address_of(2)},
                {"pod to the tunnel", pod, pod_address(1), "10.42.2.0"}};
  check_that_only(node, {}, range_of(2), 2, second);
  check_that_only(node, pods, range_of(2), 2, second);
  check_that_only(node, strangers, range_of(2), 2, second);
  // As rules of a host port or of an external address would lead them to a pod.
  const std::string to_pod = "ip daddr 192.0.2.2 udp dport 8472 dnat to 10.42.2.9:8080'";
  for (const std::string hook : {"prerouting", "output"})
    for (auto* each : {&of.first, &of.second})
      each->run("nft 'add table ip other; add chain ip other " + hook + " { type nat hook " + hook +
                " priority -100; }; add rule ip other " + hook + " " + to_pod);
  check_that_only(node, {}, range_of(2), 2, second);
  for (auto* each : {&of.first, &of.second})
    each->run("nft delete table ip other");
  // To the machine of the pod.
  const tunnel_sender other{"node", of.second.machine, address_of(2), address_of(1)};
  const std::vector<tunnel_sender> own{{"pod", pod, pod_address(1), address_of(1)},
                                       {"false", pod, address_of(3), address_of(1)}};
  check_that_only(other, own, range_of(1), 1, first);
  // The machine of a pod drops what another machine could take for packets of a node.
  remove_filter(of.second);
  check_that_only(node, pods, range_of(2), 2, second);
  // Without the rules all of them come.
  remove_filter(of.first);
  for (const auto* senders : {&pods, &strangers})
    for (const auto& each : *senders) {
      each.send(range_of(2), 2);
      CHECK(second.next() == each.name);
    }
  for (const auto& each : own) {
    each.send(range_of(1), 1);
    CHECK(first.next() == each.name);
  }
}

TEST_CASE("only nodes can send into a tunnel of IPv6", "[network][pod_network]") {
  if (!can_run() || !has_vxlan() || !can_try_ipv6()) return;
  two_machines of{route_mode::tunnel};
  int number = 0;
  for (auto* each : {&of.first, &of.second}) {
    each->run("ip addr add " + address_v6_of(++number) + "/64 dev wire nodad");
    each->add_ipv6_of_pod();
  }
  of.first.run("ip addr add " + address_v6_of(66) + "/64 dev wire nodad");
  REQUIRE(of.first.make_v6(2) == none{});
  REQUIRE(of.second.make_v6(1) == none{});
  // The datagrams in the tunnel are of IPv4, for which a machine with ranges of IPv6 only is not
  // prepared.
  of.second.run(
      "echo 1 > /proc/sys/net/ipv4/ip_forward && cd /proc/sys/net/ipv4/conf && "
      "echo 0 | tee all/rp_filter troupe-vx/rp_filter");
  const pod_listener second{of.second.pod};
  const tunnel_sender node{"node", of.first.machine, address_v6_of(1), address_v6_of(2)},
      pod{"pod", of.first.pod, pod_address_v6(1), address_v6_of(2)},
      stranger{"stranger", of.first.machine, address_v6_of(66), address_v6_of(2)};
  check_that_only(node, {pod, stranger}, range_v6_of(2), 2, second);
  remove_filter(of.second);
  check_that_only(node, {pod}, range_v6_of(2), 2, second);
  remove_filter(of.first);
  for (const auto& each : {pod, stranger}) {
    each.send(range_v6_of(2), 2);
    CHECK(second.next() == each.name);
  }
}

TEST_CASE("our routes follow the machines and are removed, and routes of others stay",
          "[network][pod_network]") {
  if (!can_run() || !has_vxlan()) return;
  for (const auto mode : {route_mode::direct, route_mode::tunnel}) {
    two_machines of{mode};
    of.first.run("ip route add 198.51.100.0/24 via 192.0.2.77");
    const auto before = of.first.everything();
    CHECK(of.first.make({2, 3, 4}) == none{});
    const auto routes = [&] { return of.first.said("ip route | grep -c 'proto 84'"); };
    CHECK(routes() == "3\n");
    of.first.run("ip route del 10.42.3.0/24");
    CHECK(of.first.make({2, 3}) == none{});
    CHECK(routes() == "2\n");
    CHECK_THAT(of.first.said("ip neigh; ip route"), !Contains("10.42.4.0"));
    of.first.remove();
    CHECK(of.first.everything() == before);
    CHECK(of.first.file().empty());
    of.first.remove();
  }
}

TEST_CASE("a change from routes to the tunnel and back leaves nothing of the other",
          "[network][pod_network]") {
  if (!can_run() || !has_vxlan()) return;
  two_machines of;
  CHECK(of.first.make({2}) == none{});
  const auto direct = of.first.everything();
  of.first.options.routes = route_mode::tunnel;
  CHECK(of.first.make({2}) == none{});
  CHECK_THAT(of.first.said("ip route"), Contains("10.42.2.0/24 via 10.42.2.0 dev troupe-vx"));
  of.first.options.routes = route_mode::automatic;
  CHECK(of.first.make({2}) == none{});
  CHECK(of.first.everything() == direct);
}

TEST_CASE("a route of another to the same pods stays and is named", "[network][pod_network]") {
  if (!can_run()) return;
  two_machines of;
  of.first.run("ip route add 10.42.2.0/24 via 192.0.2.77");
  CHECK(of.first.make({2, 3}) == none{"a route to 10.42.2.0/24 is there that is not ours"});
  CHECK_THAT(of.first.said("ip route"),
             Contains("10.42.2.0/24 via 192.0.2.77") &&
                 Contains("10.42.3.0/24 via 192.0.2.3 dev wire proto 84"));
}

TEST_CASE("where another program has a network for pods nothing of ours is made",
          "[network][pod_network]") {
  if (!can_run()) return;
  two_machines of;
  const auto before = of.first.everything();
  CHECK(of.first.make({2}) == none{});
  write_file(of.first.networks() / "05-other.conflist", "{}");
  const auto problems = of.first.make({2});
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems[0], Contains("05-other.conflist, which is another program's"));
  CHECK(of.first.everything() == before);
  CHECK(of.first.file().empty());
}

}  // namespace troupe::test

// The pod network without containers: machines on one link with a pod each, all of
// them network namespaces. This machine's own network is not touched.
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <string>

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
        "ip route; ip neigh show nud permanent");
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
    machine.run([&] { problems = make_machine_network(options, wanted); });
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

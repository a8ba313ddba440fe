#include "system/network/pod_machine.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "actors/network/services/nft_process.hpp"
#include "runtime/unique_fd.hpp"
#include "support/skip.hpp"

namespace troupe::test {

using namespace actors::services;

namespace {

constexpr std::chrono::milliseconds nft_limit{60'000};

// One end of a pair of devices in each.
void connect(const network_space& a, const std::string& device_a, const network_space& b,
             const std::string& device_b) {
  runtime::unique_fd other;
  b.run([&] { other = runtime::unique_fd{::open("/proc/thread-self/ns/net", O_RDONLY)}; });
  sh(a, "ip link add " + device_a + " type veth peer name " + device_b + " netns /proc/" +
            std::to_string(::getpid()) + "/fd/" + std::to_string(other.get()));
  sh(a, "ip link set " + device_a + " up");
  sh(b, "ip link set " + device_b + " up");
}

}  // namespace

bool can_try_rules() {
  if (!find_nft()) return skip("the program nft is not installed"), false;
  if (!network_space::possible()) return skip("no network namespaces of our own"), false;
  return true;
}

bool can_try_ipv6() {
  if (::access("/proc/net/if_inet6", R_OK) != 0) return skip("no IPv6 in the kernel"), false;
  return can_try_rules();
}

void sh(const network_space& in, const std::string& command) {
  int status = -1;
  in.run([&] { status = std::system((command + " 2>&1").c_str()); });
  INFO(command);
  REQUIRE(status == 0);
}

pod_machine::pod_machine() {
  connect(machine, "wire", other, "wire");
  sh(machine, "ip addr add 192.0.2.1/24 dev wire && ip route add default via 192.0.2.254");
  sh(machine, "echo 1 > /proc/sys/net/ipv4/ip_forward");
  sh(other, "ip addr add 192.0.2.2/24 dev wire && ip route add 10.42.0.0/16 via 192.0.2.1");
  if (::access("/proc/net/if_inet6", R_OK) != 0) return;
  sh(machine, "ip addr add 2001:db8::1/64 dev wire nodad");
  sh(machine, "ip route add default via 2001:db8::fe");
  sh(machine, "echo 1 > /proc/sys/net/ipv6/conf/all/forwarding");
  sh(other, "ip addr add 2001:db8::2/64 dev wire nodad");
  sh(other, "ip route add fd00:42::/56 via 2001:db8::1");
}

network_space& pod_machine::add_pod(const std::string& address, const std::string& address_v6) {
  auto& pod = pods_.emplace_back();
  const auto device = "veth" + std::to_string(pods_.size());
  connect(machine, device, pod, "eth0");
  sh(machine,
     "ip addr add 169.254.1.1/32 dev " + device + " && ip route add " + address + " dev " + device);
  sh(pod, "ip addr add " + address +
              "/32 dev eth0 && ip route add 169.254.1.1 dev eth0 && ip route add default via "
              "169.254.1.1 dev eth0");
  if (address_v6.empty()) return pod;
  const std::string gateway = "fd00:169::1";
  sh(machine, "ip addr add " + gateway + "/128 dev " + device + " nodad && ip route add " +
                  address_v6 + " dev " + device);
  sh(pod, "ip addr add " + address_v6 + "/128 dev eth0 nodad && ip route add " + gateway +
              " dev eth0 && ip route add default via " + gateway + " dev eth0");
  return pod;
}

void pod_machine::run(const std::string& script) const {
  tl::expected<void, std::string> ran;
  machine.run([&] { ran = run_nft({*find_nft()}, script, nft_limit); });
  INFO(script << (ran ? "" : ran.error()));
  REQUIRE(ran);
}

std::string pod_machine::listed(const std::string& command) const {
  std::string out;
  machine.run([&] {
    auto* const pipe = ::popen((*find_nft() + " " + command + " 2>&1").c_str(), "r");
    REQUIRE(pipe);
    std::array<char, 4'096> part{};
    while (const auto size = std::fread(part.data(), 1, part.size(), pipe))
      out.append(part.data(), size);
    ::pclose(pipe);
  });
  return out;
}

}  // namespace troupe::test

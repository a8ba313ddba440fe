#include "server/credentials/addresses.hpp"

#include <sched.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "server/defaults.hpp"
#include "support/skip.hpp"

namespace troupe::server {

TEST_CASE("a machine with many pods still knows its own addresses", "[addresses]") {
  std::string why, second;
  std::vector<std::string> all;
  // The network namespace is that of the thread, and of the programs that it starts.
  std::thread{[&] {
    if (::unshare(CLONE_NEWNET) != 0) {
      why = "no network namespace can be made";
      return;
    }
    std::string commands =
        "link add own type veth peer name far\naddress add 10.9.0.9/24 dev own\n"
        "address add fd00:9::9/64 dev own nodad\nlink set own up\n";
    for (std::size_t i = 0; i <= defaults::interface_addresses; ++i) {
      const auto name = "pod" + std::to_string(i);
      commands += "link add " + name + " type veth peer name far" + std::to_string(i) +
                  "\naddress add 10.42.0.1/32 dev " + name + "\nlink set " + name + " up\n";
    }
    if (std::system(("printf '" + commands + "' | ip -batch - 2>/dev/null").c_str()) != 0) {
      why = "ip cannot make interfaces with IPv6 addresses";
      return;
    }
    all = interface_addresses();
    second = second_address("10.9.0.9");
  }}.join();
  if (!why.empty()) return test::skip(why);
  CHECK(second == "fd00:9::9");
  CHECK(std::count(all.begin(), all.end(), "10.42.0.1") == 1);
  CHECK(std::count(all.begin(), all.end(), "fd00:9::9") == 1);
}

}  // namespace troupe::server

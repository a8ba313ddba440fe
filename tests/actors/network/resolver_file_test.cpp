#include "actors/kubelet/os/resolver_file.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "actors/kubelet/defaults.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::test {
namespace {

struct laptop {
  scratch_folder folder;
  std::filesystem::path file = folder.path() / "resolv.conf";
  std::filesystem::path of_resolved = folder.path() / "resolved.conf";
  actors::resolver_file read{file, of_resolved};
  actors::resolver_file::clock::time_point now{};

  // As network managers do: a new file takes the place of the old one.
  static void put(const std::filesystem::path& at, const std::string& text) {
    const auto next = at.string() + ".next";
    std::ofstream{next} << text;
    std::filesystem::rename(next, at);
  }
  std::string later() { return read.text(now += actors::kubelet_defaults::resolver_check); }
};

const std::string home = "nameserver 192.0.2.1\n";
const std::string cafe = "nameserver 192.0.2.2\n";
const std::string local_only = "nameserver 127.0.0.53\noptions edns0\n";

}  // namespace

TEST_CASE("the node's resolvers are read again when their file changes, after a while", "[dns]") {
  laptop t;
  CHECK(t.read.text(t.now).empty());
  laptop::put(t.file, home);
  CHECK(t.read.text(t.now).empty());
  CHECK(t.later() == home);
  laptop::put(t.file, cafe);
  CHECK(t.read.text(t.now) == home);
  CHECK(t.later() == cafe);
  CHECK(t.later() == cafe);
  std::ofstream{t.file} << "";  // written in place
  CHECK(t.later().empty());
  std::filesystem::remove(t.file);
  CHECK(t.later().empty());
}

TEST_CASE("where only systemd-resolved is named, the servers that it asks are used", "[dns]") {
  laptop t;
  laptop::put(t.file, local_only);
  CHECK(t.read.text(t.now) == local_only);
  laptop::put(t.of_resolved, home);
  CHECK(t.later() == home);
  laptop::put(t.of_resolved, cafe);
  CHECK(t.later() == cafe);
  laptop::put(t.of_resolved, "# no network\n");
  CHECK(t.later() == local_only);
  laptop::put(t.of_resolved, cafe);
  laptop::put(t.file, "nameserver 127.0.0.1\n" + home);
  CHECK(t.later() == "nameserver 127.0.0.1\n" + home);
}

}  // namespace troupe::test

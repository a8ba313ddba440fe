// NFS shares, mounted by a program that replaces mount.nfs: it writes its arguments to a file and
// mounts a directory of this machine.
#include "actors/kubelet/volumes/nfs_volumes.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "actors/kubelet/node/node_facts.hpp"
#include "actors/kubelet/volumes/pod_files.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"

namespace troupe::test {

namespace fs = std::filesystem;

namespace {

struct stage {
  stage() {
    fs::create_directories(exported);
    place.write("exported/note", "kept");
  }

  std::string program(const std::string& script) const {
    const auto path = place.write("mount.nfs", "#!/bin/sh\n" + script + "\n");
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }
  std::string mounting() const {
    return program("echo \"$@\" >>" + (place.path() / "calls").string() +
                   "; exec mount --bind ${1#server:} $2");
  }
  std::string calls() const {
    std::ifstream in{place.path() / "calls"};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

  scratch_folder place;
  const fs::path exported = place.path() / "exported", pod = place.path() / "pods" / "uid";
};

}  // namespace

TEST_CASE("an NFS share is mounted once, with its options, and its files outlive the pod",
          "[kubelet]") {
  if (!actors::read_node_facts().may_mount) return skip("this user may not mount");
  const stage s;
  const actors::nfs_share share{"server", s.exported.string(), true, {"vers=4.2", "soft"}};
  const auto at = actors::set_up_nfs(share, s.pod, "v", true, s.mounting());
  REQUIRE(at);
  CHECK(*at == (s.pod / "volumes/kubernetes.io~nfs/v").string());
  CHECK(fs::exists(fs::path{*at} / "note"));
  CHECK(s.calls() ==
        "server:" + s.exported.string() + " " + *at + " -n -o retry=0,ro,vers=4.2,soft\n");
  CHECK(actors::set_up_nfs(share, s.pod, "v", true, s.mounting()) == at);
  const auto calls = s.calls();
  CHECK(std::count(calls.begin(), calls.end(), '\n') == 1);
  actors::remove_pod_files(s.pod);
  CHECK_FALSE(fs::exists(s.pod));
  CHECK(fs::exists(s.exported / "note"));
}

TEST_CASE("a share that cannot be mounted says why", "[kubelet]") {
  const stage s;
  const actors::nfs_share share{"server", s.exported.string()};
  CHECK(actors::set_up_nfs(share, s.pod, "v", false, s.mounting()).error() ==
        "this node may not mount NFS volumes");
  CHECK(actors::set_up_nfs(share, s.pod, "v", true, "").error() ==
        "NFS volumes need the program mount.nfs (Debian: nfs-common)");
  const auto refusing = s.program("echo 'mount.nfs: Connection refused' >&2; exit 32");
  CHECK(actors::set_up_nfs(share, s.pod, "v", true, refusing).error() ==
        "mount.nfs: Connection refused");
  CHECK(actors::set_up_nfs({"-o", "/"}, s.pod, "v", true, s.mounting()).error() ==
        "\"-o\" is not a server name");
  CHECK(s.calls().empty());
}

}  // namespace troupe::test

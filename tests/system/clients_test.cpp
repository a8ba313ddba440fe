// Client libraries of others, with programs as their authors would write them (tests/clients/).
#include <catch2/catch.hpp>

#include "build_paths.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/node.hpp"
#include "system/shell.hpp"

using namespace troupe::test;

TEST_CASE(
    "Debian's client for Python lists, watches, defines kinds, runs a controller and elects") {
  const scratch_folder folder;
  const auto there = shell("/usr/bin/python3 -c 'import kubernetes' 2>&1");
  if (there.code != 0) return skip("python3-kubernetes is not installed");
  const node served{folder.path() / "node", {"--runtime", "simulated", "--simulated-nodes", "1"}};
  const auto ran = shell("timeout 60 " TROUPE_SOURCE_DIR "/tests/clients/controller.py " +
                         served.kubeconfig().string() + " 2>&1");
  INFO(ran.output);
  CHECK(ran.code == 0);
  for (const auto* part :
       {"pods: ", "custom resources: ", "controller: ", "leader election: elected"})
    CHECK_THAT(ran.output, Catch::Contains(part));
}

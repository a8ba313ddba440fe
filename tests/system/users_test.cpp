// People get a kubeconfig, may do what roles grant them, and nothing more once they are deleted.
#include <catch2/catch.hpp>

#include "support/programs/eventually.hpp"
#include "support/scratch_folder.hpp"
#include "support/skip.hpp"
#include "system/kubectl.hpp"
#include "system/node.hpp"

using namespace troupe::test;

TEST_CASE("a user has a kubeconfig and the rights of roles until deletion") {
  const auto clients = kubectls();
  if (clients.empty()) return skip("no kubectl is installed");
  const scratch_folder folder;
  const node on{folder.path() / "data", {"--runtime", "simulated", "--log-level", "error"}};
  const terminal admin{clients.back(), folder.path() / "admin", on.kubeconfig()};
  const auto made =
      admin.run("troupe user create jane --group devs >jane.kubeconfig 2>hint; echo $?");
  REQUIRE(made.output == "0\n");
  const terminal jane{clients.back(), folder.path() / "jane", admin.folder() / "jane.kubeconfig"};
  CHECK_THAT(jane.run("kubectl get pods").output,
             Catch::Contains("User \"jane\" cannot list resource \"pods\""));

  CHECK(admin.run("kubectl create clusterrolebinding devs --clusterrole view --group devs").code ==
        0);
  // The rules of the role "view" are those of other roles, which a controller collects.
  CHECK(eventually([&] {
    return jane.run("kubectl get pods").output.find("No resources found") != std::string::npos;
  }));
  CHECK_THAT(jane.run("kubectl get secrets").output, Catch::Contains("forbidden"));
  CHECK_THAT(jane.run("kubectl create namespace x").output, Catch::Contains("forbidden"));

  const auto listed = admin.run("troupe user list").output;
  CHECK_THAT(listed, Catch::Contains("jane") && Catch::Contains("devs"));
  CHECK_THAT(listed, !Catch::Contains("troupe-user-"));
  CHECK_THAT(admin.run("troupe user create jane").output, Catch::Contains("already"));
  CHECK_THAT(admin.run("troupe user create system:masters").output,
             Catch::Contains("must not begin with"));
  CHECK_THAT(admin.run("troupe user delete jane").output, Catch::Contains("user jane deleted"));
  CHECK_THAT(admin.run("troupe user delete jane").output, Catch::Contains("there is no user jane"));
  CHECK_THAT(jane.run("kubectl get pods").output,
             Catch::Contains("Unauthorized") || Catch::Contains("must be logged in"));
}

// A store that an older program has written gets at its next start what this version adds to a
// cluster. The store is that of tests/persistence/custom_kind_test.cpp.
#include <catch2/catch.hpp>
#include <filesystem>

#include "build_paths.hpp"
#include "support/http_client.hpp"
#include "support/programs/eventually.hpp"
#include "support/scratch_folder.hpp"
#include "system/node.hpp"

namespace fs = std::filesystem;
using namespace troupe::test;

TEST_CASE("a store of an older program gets accounts, authorities and roles at the next start") {
  const scratch_folder folder;
  const auto data = folder.path() / "data";
  fs::create_directories(data);
  fs::permissions(data, fs::perms::owner_all);
  fs::copy(std::string{TROUPE_SOURCE_DIR} + "/tests/persistence/old_store", data / "store",
           fs::copy_options::recursive);
  const node on{data, {"--runtime", "simulated", "--log-level", "error"}};
  http_client admin{on.where()};
  const std::string core = "/api/v1/namespaces/";
  CHECK_THAT(admin.get(core + "default/configmaps/kept").body,
             Catch::Contains(R"("data":{"k":"2"})"));
  for (const std::string ns : {"default", "kube-system", "kube-public", "kube-node-lease"})
    for (const char* made : {"/serviceaccounts/default", "/configmaps/kube-root-ca.crt"}) {
      INFO(ns << made);
      CHECK(eventually([&] { return admin.get(core + ns + made).status == 200; }));
    }
  const std::string roles = "/apis/rbac.authorization.k8s.io/v1/";
  for (const char* made :
       {"clusterroles/cluster-admin", "clusterrolebindings/cluster-admin",
        "namespaces/kube-system/roles/extension-apiserver-authentication-reader"})
    CHECK(admin.get(roles + made).status == 200);
  CHECK(eventually([&] {
    return admin.get(core + "kube-system/configmaps/extension-apiserver-authentication").status ==
           200;
  }));
  CHECK(admin
            .request("POST", core + "default/serviceaccounts/default/token",
                     R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}})",
                     {{"content-type", "application/json"}})
            .status == 201);
}

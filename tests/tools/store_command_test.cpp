// `troupe store`, through the program itself.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "persistence/store/store.hpp"
#include "support/scratch_folder.hpp"
#include "tools/child.hpp"
#include "tools/node/node_folder.hpp"

using Catch::Matchers::Contains;
using troupe::test::scratch_folder;
using troupe::tools::test::program;

namespace {

namespace fs = std::filesystem;

void make_store(const fs::path& folder) {
  troupe::persistence::store_options options;
  options.directory = folder.string();
  options.cluster_id = "one";
  for (int i = 0; i < 2; ++i)
    REQUIRE(troupe::persistence::store::open(options));
}

}  // namespace

TEST_CASE("a node's store is verified by the node's data folder, and left as it is") {
  const scratch_folder folder;
  make_store(folder.path() / "store");
  const auto good = program({"store", "verify", folder.path().string()});
  CHECK(good.code == 0);
  CHECK_THAT(good.out, Contains("0 objects at revision") && Contains("no data is missing"));
  const auto nothing = program({"store", "salvage", (folder.path() / "store").string()});
  CHECK(nothing.code == 0);
  CHECK_THAT(nothing.out, Contains("nothing was changed"));
}

TEST_CASE("a damaged store is refused by name, and salvaged when it is asked for") {
  const scratch_folder folder;
  make_store(folder.path() / "store");
  fs::remove(folder.path() / "store" / "CURRENT");
  const auto bad = program({"store", "verify", folder.path().string()});
  CHECK(bad.code == 1);
  CHECK_THAT(bad.err, Contains("CURRENT is missing") && Contains("troupe store salvage"));
  const auto done = program({"store", "salvage", folder.path().string()});
  CHECK(done.code == 0);
  CHECK_THAT(done.out, Contains("CURRENT is missing") && Contains("kept 0 objects") &&
                           Contains("store.damaged-"));
  CHECK(program({"store", "verify", folder.path().string()}).code == 0);
}

TEST_CASE("a folder without a store is said to be one") {
  const scratch_folder folder;
  const auto none = program({"store", "verify", folder.path().string()});
  CHECK(none.code == 1);
  CHECK_THAT(none.err, Contains("there is no store in"));
  CHECK(program({"store"}).code == 2);
  CHECK(program({"store", "verify"}).code == 2);
}

TEST_CASE("a backup of a node's store becomes a store again, with its authority") {
  const scratch_folder folder;
  const auto node = folder.path() / "node", other = folder.path() / "other";
  const auto file = (folder.path() / "backup").string();
  make_store(node / "store");
  fs::create_directories(node / "pki");
  std::ofstream{node / "pki" / "ca.key"} << "secret";
  REQUIRE(program({"store", "backup", file, "--from", node.string()}).code == 0);
  CHECK_THAT(program({"store", "backup", file, "--from", node.string()}).err, Contains("already"));
  const auto made = program({"store", "restore", file, "--to", other.string()});
  CHECK(made.code == 0);
  CHECK_THAT(made.out, Contains("of cluster one at revision 1000000"));
  CHECK(made.err.empty());
  std::ifstream key{other / "pki" / "ca.key"};
  CHECK(std::string{std::istreambuf_iterator<char>{key}, {}} == "secret");
  CHECK(fs::status(other / "pki" / "ca.key").permissions() ==
        (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(program({"store", "verify", other.string()}).code == 0);
  for (const auto& each : {other, other / "store", other / "pki"}) {
    CAPTURE(each.string());
    CHECK(fs::status(each).permissions() == fs::perms::owner_all);
  }

  const auto again = program({"store", "restore", file, "--to", other.string()});
  CHECK(again.code == 1);
  CHECK_THAT(again.err, Contains("not empty"));
  // An interrupted restore is repeated; another authority is never overwritten.
  fs::remove_all(other / "store");
  CHECK(program({"store", "restore", file, "--to", other.string()}).code == 0);
  fs::remove_all(other / "store");
  std::ofstream{other / "pki" / "ca.key"} << "of somebody else";
  const auto kept = program({"store", "restore", file, "--to", other.string()});
  CHECK(kept.code == 1);
  CHECK_THAT(kept.err, Contains("ca.key differs from the backup"));
  CHECK_FALSE(fs::exists(other / "store"));
  CHECK(program({"store", "copy", "--from", node.string(), "--to", other.string()}).code == 2);
  const auto nowhere = program({"store", "copy", "--from", node.string(), "--to", "etcd"});
  CHECK(nowhere.code == 1);
  CHECK_THAT(nowhere.err, Contains("--etcd-endpoints"));
}

TEST_CASE("nothing is restored into the directory of a running process") {
  const scratch_folder folder;
  const auto node = folder.path() / "node", other = folder.path() / "other";
  const auto file = (folder.path() / "backup").string();
  make_store(node / "store");
  REQUIRE(program({"store", "backup", file, "--from", node.string()}).code == 0);
  {
    const auto held = troupe::tools::node_folder::lock_data_dir(other);
    REQUIRE(held);
    const auto refused = program({"store", "restore", file, "--to", other.string()});
    CHECK(refused.code == 1);
    CHECK_THAT(refused.err, Contains("in use by another node") && Contains("another with --to"));
    CHECK_FALSE(fs::exists(other / "store"));
  }
  CHECK(program({"store", "restore", file, "--to", other.string()}).code == 0);
}

// The data that a joining control plane gets.
#include "server/join/control_plane_bundle.hpp"

#include <catch2/catch.hpp>

#include "api/schema/meta_object.pb.h"
#include "server/credentials/pki.hpp"
#include "server/credentials/private_file.hpp"
#include "server/join/defaults.hpp"
#include "server/tokens/account_keys.hpp"
#include "support/scratch_folder.hpp"

using namespace troupe::server;
using troupe::test::scratch_folder;

namespace {

struct authority {
  authority() {
    REQUIRE(pki::open({folder.path(), {}}, std::chrono::system_clock::now()));
    REQUIRE(account_keys::open(folder.path()));
    bundle.pki = read_shared_pki(folder.path()).value();
    bundle.etcd_endpoints = {"https://10.0.0.1:2379", "https://10.0.0.2:2379"};
    bundle.etcd_key = "key";
  }
  std::string hash() const { return x509::key_hash(bundle.pki.at("ca.crt")).value(); }

  scratch_folder folder;
  control_plane_bundle bundle;
};

}  // namespace

TEST_CASE("a bundle has the files that all control planes share, and none of a single one") {
  authority of;
  REQUIRE(write_private_file(of.folder.path() / "sa-old.pub", "an older key"));
  std::vector<std::string> names;
  const auto shared = read_shared_pki(of.folder.path());
  REQUIRE(shared);
  for (const auto& [name, text] : *shared)
    names.push_back(name);
  CHECK(names == std::vector<std::string>{"ca.crt", "ca.key", "sa-old.pub", "sa.key"});
}

TEST_CASE("without the keys there is no bundle, and the error names the file") {
  const scratch_folder empty;
  CHECK(read_shared_pki(empty.path()).error().find("ca.crt cannot be read") != std::string::npos);
  authority of;
  for (int i = 0; i < static_cast<int>(join_defaults::bundle_files); ++i)
    REQUIRE(write_private_file(of.folder.path() / ("sa-" + std::to_string(i) + ".pub"), "k"));
  CHECK(read_shared_pki(of.folder.path()).error().find("too many keys") != std::string::npos);
}

TEST_CASE("a bundle is read as it was written") {
  authority of;
  const auto read = read_bundle(write_bundle(of.bundle), of.hash()).value();
  CHECK(read.pki == of.bundle.pki);
  CHECK(read.etcd_endpoints == of.bundle.etcd_endpoints);
  CHECK(read.etcd_key == "key");
  CHECK(read.etcd_authority.empty());
}

TEST_CASE("a bundle of another authority, or without a key, is refused") {
  authority of, other;
  CHECK_FALSE(read_bundle(write_bundle(of.bundle), other.hash()));
  CHECK_FALSE(read_bundle("{}", of.hash()));
  CHECK_FALSE(read_bundle("what", of.hash()));
  for (const auto* name : {"ca.key", "sa.key"}) {
    auto bundle = of.bundle;
    bundle.pki.erase(name);
    CHECK_FALSE(read_bundle(write_bundle(bundle), of.hash()));
  }
  auto exchanged = of.bundle;
  exchanged.pki["ca.key"] = other.bundle.pki.at("ca.key");
  CHECK_FALSE(read_bundle(write_bundle(exchanged), of.hash()));
}

TEST_CASE("a bundle names no file but those that are shared") {
  CHECK(is_shared_pki("sa-2024.key"));
  for (const auto* name : {"server.key", "sa-/../../x.key", "../sa-x.key", "sa-x", ""})
    CHECK_FALSE(is_shared_pki(name));
  authority of;
  of.bundle.pki["../evil"] = "text";
  CHECK(read_bundle(write_bundle(of.bundle), of.hash()).value().pki.size() == 3);
}

TEST_CASE("the Secret of a bundle belongs to its token and is no other one") {
  const auto secret = write_bundle_secret("abc123", "uid-1", std::string{"\0\1sealed", 8});
  CHECK(secret->metadata().name() == "control-plane-abc123");
  REQUIRE(secret->metadata().owner_references_size() == 1);
  CHECK(secret->metadata().owner_references(0).name() == "bootstrap-token-abc123");
  CHECK(secret->metadata().owner_references(0).uid() == "uid-1");
  CHECK(sealed_bundle(*secret) == (std::string{"\0\1sealed", 8}));
  secret->set_type("Opaque");
  CHECK(sealed_bundle(*secret).empty());
}

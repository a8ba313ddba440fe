#include "system/planes/stored_keys.hpp"

#include <catch2/catch.hpp>

#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"

using namespace troupe::test;

TEST_CASE("keys and revisions are read from what etcdctl prints", "[planes][judge]") {
  const std::string printed = R"("ClusterID" : 14841639068965178418
"Revision" : 12
"Key" : "/registry/minions/a"
"CreateRevision" : 2
"ModRevision" : 7
"Version" : 3
"Value" : ""
"Lease" : 0
"Key" : "/registry/pods/default/\u00e4"
"CreateRevision" : 8
"ModRevision" : 8
"Version" : 1
"Value" : ""
"Lease" : 0
"More" : false
"Count" : 2
)";
  const key_revisions keys{{"/registry/minions/a", 7}, {"/registry/pods/default/\u00e4", 8}};
  CHECK(read_keys(printed) == keys);
  CHECK(read_keys("").empty());
  CHECK(part_of(keys, "/registry/minions/") == key_revisions{{"/registry/minions/a", 7}});
  CHECK(part_of(keys, "/registry/po").size() == 1);
  CHECK(part_of(keys, "/registry/secrets/").empty());
}

TEST_CASE("keys that are missing, only shown, or shown at another revision are reported",
          "[planes][judge]") {
  const key_revisions in_etcd{{"a", 3}, {"b", 4}};
  using lines = std::vector<std::string>;
  CHECK(differences(in_etcd, in_etcd) == lines{});
  CHECK(differences(in_etcd, {{"b", 4}}) == lines{"a is in etcd at 3, and is not shown"});
  CHECK(differences(in_etcd, {{"a", 3}, {"b", 4}, {"c", 5}}) ==
        lines{"c is shown at 5, and is not in etcd"});
  CHECK(differences(in_etcd, {{"a", 2}, {"b", 4}}) ==
        lines{"a is in etcd at 3, and is shown at 2"});
}

TEST_CASE("keys in etcd that belong to no kind are reported", "[planes][judge]") {
  const auto& node = troupe::api::kind_of<troupe::api::core::v1::Node>();
  CHECK(node.etcd_prefix() == "/registry/minions/");
  CHECK(strangers({{node.etcd_prefix() + "a", 3}, {"/registry/pods/default/p", 4}}).empty());
  // A key of ours that is stored elsewhere in etcd.
  CHECK(strangers({{node.prefix() + "a", 3}}).size() == 1);
  CHECK(strangers({{"/registry/nonsense/a", 3}}) ==
        std::vector<std::string>{"/registry/nonsense/a at 3 belongs to no kind"});
}

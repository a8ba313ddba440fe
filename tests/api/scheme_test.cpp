#include "api/scheme.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "api/schema/core_v1.pb.h"

namespace troupe::api {

TEST_CASE("kinds are found by name, by resource, by type and by key") {
  const scheme& all = scheme::instance();
  const kind_info* pod = all.find("v1", "Pod");
  REQUIRE(pod != nullptr);
  CHECK(pod->api_version() == "v1");
  CHECK(pod->qualified_plural() == "pods");
  CHECK(all.find_resource("", "v1", "pods") == pod);
  CHECK(all.find(pod->type()) == pod);
  CHECK(&kind_of<core::v1::Pod>() == pod);
  CHECK(all.find_key("/registry/pods/default/web") == pod);
  const kind_info* replica_set = all.find("apps/v1", "ReplicaSet");
  REQUIRE(replica_set != nullptr);
  CHECK(replica_set->qualified_plural() == "replicasets.apps");
  CHECK(replica_set->qualified_kind() == "ReplicaSet.apps");
  CHECK(all.find_resource("apps", "v1", "replicasets") == replica_set);
}

TEST_CASE("what the schema has not is not found") {
  const scheme& all = scheme::instance();
  CHECK(all.find("v1", "pod") == nullptr);
  CHECK(all.find("v2", "Pod") == nullptr);
  CHECK(all.find("apps/v1", "Pod") == nullptr);
  CHECK(all.find_resource("apps", "v1", "pods") == nullptr);
  CHECK(all.find_resource("", "v1", "") == nullptr);
  CHECK(all.find_key("/registry/unicorns/x") == nullptr);
  CHECK(all.find_key("/pods/default/web") == nullptr);
  CHECK(all.find_key("") == nullptr);
}

TEST_CASE("keys name the resource, the namespace where there is one, and the object") {
  const kind_info& pod = kind_of<core::v1::Pod>();
  CHECK(pod.key("default", "web") == "/registry/pods/default/web");
  CHECK(pod.prefix() == "/registry/pods/");
  CHECK(pod.prefix("default") == "/registry/pods/default/");
  const kind_info& node = kind_of<core::v1::Node>();
  CHECK(node.key("", "n1") == "/registry/nodes/n1");
  CHECK(node.key("ignored", "n1") == "/registry/nodes/n1");
}

TEST_CASE("every stored kind has a key prefix of its own, and finds itself by it") {
  for (const kind_info* kind : scheme::instance().all()) {
    INFO(kind->qualified_kind());
    CHECK(scheme::instance().find(kind->api_version(), kind->kind()) == kind);
    if (kind->stored()) CHECK(scheme::instance().find_key(kind->prefix() + "x") == kind);
    CHECK(kind->make()->GetDescriptor() == &kind->type());
  }
}

TEST_CASE("kinds that are only created are not stored") {
  const kind_info* binding = scheme::instance().find("v1", "Binding");
  REQUIRE(binding != nullptr);
  CHECK_FALSE(binding->stored());
  CHECK(binding->serves("create"));
  CHECK_FALSE(binding->serves("get"));
  const kind_info& pod = kind_of<core::v1::Pod>();
  CHECK(pod.stored());
  CHECK(pod.serves("deletecollection"));
  CHECK_FALSE(pod.serves("proxy"));
}

TEST_CASE("the core group comes first, then groups by name, each once") {
  const auto versions = scheme::instance().api_versions();
  REQUIRE(versions.size() >= 4);
  CHECK(versions.front() == "v1");
  CHECK(std::is_sorted(versions.begin() + 1, versions.end()));
  CHECK(std::adjacent_find(versions.begin(), versions.end()) == versions.end());
}

}  // namespace troupe::api

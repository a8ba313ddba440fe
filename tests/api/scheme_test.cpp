#include "api/scheme.hpp"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <thread>
#include <vector>

#include "api/schema/core_v1.pb.h"
#include "api/version_order.hpp"

namespace troupe::api {

TEST_CASE("kinds are found by name, by resource, by type and by key") {
  const scheme& all = scheme::instance();
  const kind_handle pod = all.find("v1", "Pod");
  REQUIRE(pod != nullptr);
  CHECK(pod->api_version() == "v1");
  CHECK(pod->qualified_plural() == "pods");
  CHECK(all.find_resource("", "v1", "pods") == pod);
  CHECK(pod == all.find(pod->type()));
  CHECK(pod == &kind_of<core::v1::Pod>());
  CHECK(all.find_key("/registry/pods/default/web") == pod);
  const kind_handle replica_set = all.find("apps/v1", "ReplicaSet");
  REQUIRE(replica_set != nullptr);
  CHECK(replica_set->qualified_plural() == "replicasets.apps");
  CHECK(replica_set->qualified_kind() == "ReplicaSet.apps");
  CHECK(all.find_resource("apps", "v1", "replicasets") == replica_set);
}

TEST_CASE("unknown kinds and resources are not found") {
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
  const kind_handle binding = scheme::instance().find("v1", "Binding");
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
  std::vector<std::string> groups;
  for (const auto& version : versions)
    groups.push_back(version.substr(0, version.find('/')));
  CHECK(std::is_sorted(groups.begin() + 1, groups.end()));
  CHECK(std::set<std::string>(versions.begin(), versions.end()).size() == versions.size());
}

TEST_CASE("stable versions come before others, newer before older") {
  std::vector<std::string> versions = {"v1beta1", "v1",       "other",   "v10",
                                       "v2",      "v1alpha1", "v2beta1", "v1beta2"};
  std::sort(versions.begin(), versions.end(), version_before());
  CHECK(versions == std::vector<std::string>{"v10", "v2", "v1", "v2beta1", "v1beta2", "v1beta1",
                                             "v1alpha1", "other"});
}

namespace {

Kind widgets(const std::string& group = "stable.example.com", const std::string& kind = "Widget") {
  Kind options;
  options.set_group(group);
  options.set_version("v1");
  options.set_kind(kind);
  options.set_plural("widgets");
  options.set_namespaced(true);
  return options;
}

}  // namespace

TEST_CASE("a custom kind is found while it is registered, and stays valid for its holders") {
  scheme& all = scheme::instance();
  const auto before = all.revision();
  const auto old = all.kinds();
  auto made = all.put(widgets());
  REQUIRE(made.has_value());
  kind_handle widget = *made;
  CHECK(all.revision() > before);
  CHECK(widget->custom());
  CHECK(widget->qualified_plural() == "widgets.stable.example.com");
  CHECK(widget->key("default", "a") == "/registry/stable.example.com/widgets/default/a");
  CHECK(all.find("stable.example.com/v1", "Widget") == widget);
  CHECK(all.find_resource("stable.example.com", "v1", "widgets") == widget);
  CHECK(all.find_key("/registry/stable.example.com/widgets/default/a") == widget);
  CHECK(all.find_key("/registry/stable.example.com/other/default/a") == nullptr);
  CHECK(all.find_key("/registry/stable.example.com/widgets") == nullptr);
  CHECK(old->find("stable.example.com/v1", "Widget") == nullptr);

  all.remove(*widget);
  made = kind_handle();
  CHECK(all.find("stable.example.com/v1", "Widget") == nullptr);
  CHECK(widget->kind() == "Widget");
  CHECK(widget->make() != nullptr);
  all.remove(*widget);
}

TEST_CASE("two groups may have the same plural, which a built-in kind may have, too") {
  scheme& all = scheme::instance();
  auto options = widgets();
  options.set_plural("pods");
  options.set_kind("Pod");
  const auto one = *all.put(options);
  options.set_group("other.example.com");
  const auto other = *all.put(options);
  CHECK(one->prefix() == "/registry/stable.example.com/pods/");
  CHECK(other->prefix() == "/registry/other.example.com/pods/");
  CHECK(all.find_key(one->key("ns", "a")) == one);
  CHECK(all.find_key(other->key("ns", "a")) == other);
  CHECK(all.find_key("/registry/pods/ns/a") == &kind_of<core::v1::Pod>());
  CHECK(all.find_resource("", "v1", "pods") == &kind_of<core::v1::Pod>());
  all.remove(*one);
  all.remove(*other);
}

TEST_CASE("an invalid custom kind, or one with a name in use, is refused") {
  scheme& all = scheme::instance();
  CHECK(all.put(widgets("nodot")).error().code == 400);
  CHECK(all.put(widgets("Upper.example.com")).error().code == 400);
  auto compact = widgets();
  compact.set_compact(true);
  CHECK(all.put(compact).error().code == 400);
  auto lease = widgets("coordination.k8s.io", "Other");
  lease.set_plural("leases");
  CHECK(all.put(lease).error().code == 409);
  const auto widget = *all.put(widgets());
  auto namesake = widgets();
  namesake.set_plural("gadgets");
  CHECK(all.put(namesake).error().code == 409);
  // The same place has another description of the kind.
  const auto again = *all.put(widgets("stable.example.com", "Gizmo"));
  CHECK(all.find("stable.example.com/v1", "Widget") == nullptr);
  CHECK(all.find_key(widget->prefix() + "a/b") == again);
  all.remove(*again);
}

TEST_CASE("stored objects of a kind that is not served have a stand-in kind") {
  scheme& all = scheme::instance();
  const auto stand_in = all.find_or_placeholder(widgets());
  REQUIRE(stand_in);
  CHECK(all.find_or_placeholder(widgets()) == stand_in);
  CHECK(all.find_key(stand_in->prefix() + "a/b") == stand_in);
  CHECK(all.find("stable.example.com/v1", "Widget") == nullptr);
  CHECK(stand_in->stored());
  CHECK_FALSE(stand_in->serves("get"));
  const auto stored = all.kinds()->stored();
  CHECK(std::count(stored.begin(), stored.end(), stand_in.get()) == 1);
  const auto served = *all.put(widgets());
  CHECK(all.find_key(stand_in->prefix() + "a/b") == served);
  all.remove(*served);
  CHECK(all.find_or_placeholder(widgets("nodot")) == nullptr);
}

TEST_CASE("readers see whole tables while kinds come and go ten thousand times") {
  scheme& all = scheme::instance();
  std::atomic<bool> done{false};
  std::atomic<int> broken{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      kind_handle kept;
      while (!done) {
        const auto found = all.find("stable.example.com/v1", "Widget");
        if (found && found->prefix() != "/registry/stable.example.com/widgets/") ++broken;
        std::size_t custom = 0;
        for (const auto* kind : all.all())
          custom += kind->group() == "stable.example.com" ? 1 : 0;
        if (custom > 1) ++broken;
        if (all.find_key("/registry/pods/a/b") != &kind_of<core::v1::Pod>()) ++broken;
        if (found) kept = found;
      }
      if (kept && kept->kind() != "Widget") ++broken;
    });
  for (int i = 0; i < 10'000; ++i) {
    const auto made = all.put(widgets());
    if (i % 2 == 0) all.remove(**made);
  }
  done = true;
  for (auto& each : readers)
    each.join();
  CHECK(broken == 0);
  all.remove(*all.find("stable.example.com/v1", "Widget"));
}

TEST_CASE("the keys of upstream's etcd have its own names for some kinds") {
  CHECK(kind_of<core::v1::Node>().etcd_prefix() == "/registry/minions/");
  CHECK(kind_of<core::v1::Service>().etcd_prefix() == "/registry/services/specs/");
  CHECK(kind_of<core::v1::Endpoints>().etcd_prefix() == "/registry/services/endpoints/");
  CHECK(kind_of<core::v1::ReplicationController>().etcd_prefix() == "/registry/controllers/");
  CHECK(kind_of<core::v1::Pod>().etcd_prefix() == "/registry/pods/");
  CHECK(kind_of<core::v1::Node>().prefix() == "/registry/nodes/");
}

}  // namespace troupe::api

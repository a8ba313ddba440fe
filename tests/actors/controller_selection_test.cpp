// Which controllers run, in upstream's syntax.
#include "actors/control_plane/controller_selection.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "actors/write/admission_fixture.hpp"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_replication.pb.h"

namespace troupe::test {

using actors::is_selected;
using actors::unknown_controllers;
using api::core::v1::ServiceAccount;

TEST_CASE("A star selects all controllers, a name one, a minus takes one away", "[controllers]") {
  CHECK(is_selected({"*"}, "jobs"));
  CHECK_FALSE(is_selected({}, "jobs"));
  CHECK_FALSE(is_selected({"deployments"}, "jobs"));
  CHECK(is_selected({"deployments", "jobs"}, "jobs"));
  CHECK_FALSE(is_selected({"*", "-jobs"}, "jobs"));
  CHECK(is_selected({"*", "-jobs"}, "cron_jobs"));
  // As upstream: the first entry that names it applies, wherever the star is.
  CHECK_FALSE(is_selected({"-jobs", "jobs", "*"}, "jobs"));
  CHECK(is_selected({"jobs", "-jobs"}, "jobs"));
}

TEST_CASE("Upstream's names of a controller select it, and unknown names are reported",
          "[controllers]") {
  CHECK_FALSE(is_selected({"*", "-deployment-controller"}, "deployments"));
  CHECK(is_selected({"cronjob"}, "cron_jobs"));
  CHECK(unknown_controllers({"*", "-statefulset-controller", "jobs"}).empty());
  CHECK(unknown_controllers({"*", "-job", "-jbos", "scheduler", "", "-*"}) ==
        std::vector<std::string>{"-jbos", "scheduler", "", "-*"});
}

TEST_CASE("Each leading actor but the scheduler can be named", "[controllers]") {
  const auto& names = actors::controller_names();
  CHECK(std::adjacent_find(names.begin(), names.end()) == names.end());
  for (const auto* name : {"replication", "namespaces", "garbage-collector", "endpoints"})
    CHECK(std::find(names.begin(), names.end(), name) != names.end());
  CHECK(std::find(names.begin(), names.end(), "scheduler") == names.end());
}

TEST_CASE("A controller that is switched off leaves its objects alone", "[controllers]") {
  cluster_options options;
  options.plane.enabled_controllers = {"*", "-replication"};
  cluster c{1, std::move(options)};
  api::core::v1::ReplicationController rc;
  rc.mutable_metadata()->set_name("web");
  rc.mutable_metadata()->set_namespace_("default");
  rc.mutable_spec()->set_replicas(2);
  (*rc.mutable_spec()->mutable_selector())["app"] = "web";
  auto& made_from = *rc.mutable_spec()->mutable_template_();
  (*made_from.mutable_metadata()->mutable_labels())["app"] = "web";
  *made_from.mutable_spec() = web_pod().spec();
  c.create(rc);
  // Enabled controllers work: an account in each namespace.
  CHECK(c.run_until([&] { return c.find<ServiceAccount>("default", "default") != nullptr; }));
  c.settle();
  CHECK(c.list<api::core::v1::Pod>("default").empty());
}

}  // namespace troupe::test

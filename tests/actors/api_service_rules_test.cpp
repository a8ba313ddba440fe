// The APIServices of this server's own groups, and the writes that keep them.
#include "actors/definitions/api_service_rules.hpp"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "api/scheme.hpp"

namespace troupe::test {

using actors::action_for;
using actors::api_management;
using actors::api_service_action;
using actors::local_api_service;
using api::apiextensions::v1::CustomResourceDefinition;
using api::apiregistration::v1::APIService;

namespace {

api::object stored(std::unique_ptr<APIService> content) {
  return {api::kind_of<APIService>(), std::move(content), 1};
}

}  // namespace

TEST_CASE("a definition asks for an API service for each version that it serves") {
  CustomResourceDefinition definition;
  definition.mutable_spec()->set_group("example.com");
  for (const auto& [name, served] : {std::pair{"v1", true}, {"v1beta1", false}, {"v2", true}}) {
    auto& version = *definition.mutable_spec()->add_versions();
    version.set_name(name);
    version.set_served(served);
  }
  CHECK(actors::api_services_of(definition) ==
        std::vector<std::string>{"v1.example.com", "v2.example.com"});
  // The server creates the APIService of a built-in version when it starts.
  definition.mutable_spec()->set_group("apps");
  CHECK(actors::api_services_of(definition) == std::vector<std::string>{"v2.apps"});
}

TEST_CASE("only an API service that is labelled as always managed is written or removed") {
  const std::string name = "v1.example.com";
  CHECK(action_for(name, true, nullptr) == api_service_action::create);
  CHECK(action_for(name, false, nullptr) == api_service_action::none);
  const auto always = stored(local_api_service(name, api_management::always));
  CHECK(action_for(name, true, &always) == api_service_action::none);
  CHECK(action_for(name, false, &always) == api_service_action::remove);
  auto changed = local_api_service(name, api_management::always);
  changed->mutable_spec()->set_version_priority(7);
  const auto differs = stored(std::move(changed));
  CHECK(action_for(name, true, &differs) == api_service_action::restore);

  auto plain = local_api_service(name, api_management::always);
  plain->mutable_metadata()->clear_labels();
  const auto own = stored(std::move(plain));
  const auto on_start = stored(local_api_service(name, api_management::on_start));
  for (const auto* each : {&own, &on_start})
    for (const bool wanted : {true, false})
      CHECK(action_for(name, wanted, each) == api_service_action::none);
  auto ending = local_api_service(name, api_management::always);
  ending->mutable_metadata()->mutable_deletion_timestamp()->set_seconds(1);
  const auto ends = stored(std::move(ending));
  CHECK(action_for(name, false, &ends) == api_service_action::none);
  // A built-in version stays, whoever labelled it.
  const auto built_in = stored(local_api_service("v1.apps", api_management::always));
  CHECK(action_for("v1.apps", false, &built_in) == api_service_action::none);
}

}  // namespace troupe::test

// An object of a custom kind can be created only while its definition exists, with a precondition
// on the definition: after it is marked for deletion no object can be created.
//
// kubernetes: apiextensions-apiserver/pkg/apiserver/customresource_handler.go.
#include "actors/write/admission/plugins.hpp"
#include "api/schema/apiextensions_v1.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::apiextensions::v1::CustomResourceDefinition;

class definition_lifecycle final : public plugin {
 public:
  std::string_view name() const noexcept override { return "CustomResourceDefinitionLifecycle"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    return op == operation::create && kind.custom();
  }

  verdict mutate(const attributes& of, api::body&, persistence::transaction& also) const override {
    if (of.kind.rules() == nullptr) return {};
    const auto& kind = api::kind_of<CustomResourceDefinition>();
    auto key = kind.key({}, of.kind.qualified_plural());
    const auto found = of.state.find(key);
    if (!found) return api::fail(api::not_found(kind, of.kind.qualified_plural()));
    if (found->meta().has_deletion_timestamp())
      return api::fail(
          api::forbidden(of.kind, of.name(),
                         "create not allowed while custom resource definition is terminating"));
    also.preconditions.push_back({std::move(key), found->revision()});
    return {};
  }
};

}  // namespace

plugin_ptr make_definition_lifecycle() {
  return std::make_shared<definition_lifecycle>();
}

}  // namespace troupe::actors::admission

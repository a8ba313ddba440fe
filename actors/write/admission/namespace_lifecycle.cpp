// A namespaced object requires a namespace that is not terminating: 404, or 403 with the cause
// NamespaceTerminating. The namespace's state is a precondition of the write, so no object is
// created after the termination began. System namespaces cannot be deleted: 403.
//
// kubernetes: apiserver/pkg/admission/plugin/namespace/lifecycle.
#include "actors/write/admission/plugins.hpp"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "api/validation/system_namespaces.hpp"

namespace troupe::actors::admission {
namespace {

using api::core::v1::Namespace;

class namespace_lifecycle final : public plugin {
 public:
  std::string_view name() const noexcept override { return "NamespaceLifecycle"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    return (op == operation::create && kind.namespaced()) ||
           (op == operation::remove && &kind == &api::kind_of<Namespace>());
  }

  verdict mutate(const attributes& of, api::body&, persistence::transaction& also) const override {
    const auto& kind = api::kind_of<Namespace>();
    auto key = kind.key({}, of.ns());
    const auto found = of.state.find(key);
    if (!found) return api::fail(api::not_found(kind, of.ns()));
    if (found->as<Namespace>().status().phase() == "Terminating") return api::fail(ends(of));
    also.preconditions.push_back({std::move(key), found->revision()});
    return {};
  }

  // kube-node-lease is included because nobody would create it again.
  verdict validate(const attributes& of) const override {
    if (of.op != operation::remove || !api::is_system_namespace(of.name())) return {};
    return api::fail(forbidden(of, "this namespace may not be deleted"));
  }

 private:
  static api::error ends(const attributes& of) {
    auto refused = forbidden(of, "unable to create new content in namespace " + of.ns() +
                                     " because it is being terminated");
    refused.causes.push_back({"NamespaceTerminating",
                              "namespace " + of.ns() + " is being terminated",
                              "metadata.namespace"});
    return refused;
  }
};

}  // namespace

plugin_ptr make_namespace_lifecycle() {
  return std::make_shared<namespace_lifecycle>();
}

}  // namespace troupe::actors::admission

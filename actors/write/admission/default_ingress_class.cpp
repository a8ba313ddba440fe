// Sets the default IngressClass of an Ingress without a class: of several with the default
// annotation the newest.
//
// kubernetes: plugin/pkg/admission/network/defaultingressclass.
#include "actors/core/labels.hpp"
#include "actors/write/admission/plugins.hpp"
#include "api/object/object.hpp"
#include "api/schema/networking_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::networking::v1::Ingress;
using api::networking::v1::IngressClass;

constexpr const char* default_annotation = "ingressclass.kubernetes.io/is-default-class";
// The annotation that named the class before the field existed.
constexpr const char* class_annotation = "kubernetes.io/ingress.class";

bool is_default(const api::object& candidate) {
  return annotation_of(candidate.meta(), default_annotation) == "true";
}

// Null if there is none. Of several from the same second, the first by name.
api::object_ptr default_class(const persistence::snapshot& state) {
  api::object_ptr newest;
  state.scan(api::kind_of<IngressClass>().prefix(), {},
             [&](std::string_view, const api::object_ptr& candidate) {
               if (is_default(*candidate) &&
                   (!newest || candidate->meta().creation_timestamp().seconds() >
                                   newest->meta().creation_timestamp().seconds()))
                 newest = candidate;
               return true;
             });
  return newest;
}

class default_ingress_class final : public plugin {
 public:
  std::string_view name() const noexcept override { return "DefaultIngressClass"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    return op == operation::create && &kind == &api::kind_of<Ingress>();
  }

  verdict mutate(const attributes& of, api::body& now, persistence::transaction&) const override {
    auto& ingress = static_cast<Ingress&>(now);
    if (ingress.spec().has_ingress_class_name() ||
        of.meta().annotations().contains(class_annotation))
      return {};
    if (const auto found = default_class(of.state))
      ingress.mutable_spec()->set_ingress_class_name(found->meta().name());
    return {};
  }
};

}  // namespace

plugin_ptr make_default_ingress_class() {
  return std::make_shared<default_ingress_class>();
}

}  // namespace troupe::actors::admission

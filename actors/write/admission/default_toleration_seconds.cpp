// A pod tolerates a node that is not ready or unreachable for 300 s.
//
// kubernetes: plugin/pkg/admission/defaulttolerationseconds.
#include <algorithm>

#include "actors/write/admission/plugins.hpp"
#include "api/schema/core_pod.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::core::v1::Pod;
using api::core::v1::PodSpec;

constexpr std::int64_t toleration_seconds = 300;

bool tolerates(const PodSpec& spec, std::string_view taint) {
  return std::any_of(spec.tolerations().begin(), spec.tolerations().end(), [&](const auto& t) {
    return (t.key() == taint || t.key().empty()) &&
           (t.effect() == "NoExecute" || t.effect().empty());
  });
}

void tolerate(PodSpec& spec, const char* taint) {
  if (tolerates(spec, taint)) return;
  auto& toleration = *spec.add_tolerations();
  toleration.set_key(taint);
  toleration.set_operator_("Exists");
  toleration.set_effect("NoExecute");
  toleration.set_toleration_seconds(toleration_seconds);
}

class default_toleration_seconds final : public plugin {
 public:
  std::string_view name() const noexcept override { return "DefaultTolerationSeconds"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    return (op == operation::create || op == operation::update) && &kind == &api::kind_of<Pod>();
  }

  verdict mutate(const attributes&, api::body& now, persistence::transaction&) const override {
    auto& spec = *static_cast<Pod&>(now).mutable_spec();
    tolerate(spec, "node.kubernetes.io/not-ready");
    tolerate(spec, "node.kubernetes.io/unreachable");
    return {};
  }
};

}  // namespace

plugin_ptr make_default_toleration_seconds() {
  return std::make_shared<default_toleration_seconds>();
}

}  // namespace troupe::actors::admission

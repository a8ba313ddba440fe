// A bound claim may ask for more when its class allows that.
//
// kubernetes: plugin/pkg/admission/storage/persistentvolume/resize.
#include "actors/volumes/claim_rules.hpp"
#include "actors/write/admission/plugins.hpp"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using volumes::PersistentVolumeClaim;
using volumes::StorageClass;

class claim_resize final : public plugin {
 public:
  std::string_view name() const noexcept override { return "PersistentVolumeClaimResize"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    return op == operation::update && &kind == &api::kind_of<PersistentVolumeClaim>();
  }

  verdict validate(const attributes& of) const override {
    const auto& now = static_cast<const PersistentVolumeClaim&>(*of.now);
    const auto& before = static_cast<const PersistentVolumeClaim&>(*of.before);
    if (volumes::requested(now) <= volumes::requested(before)) return {};
    if (before.status().phase() != "Bound")
      return api::fail(forbidden(of, "Only bound persistent volume claims can be expanded"));
    const auto found =
        of.state.find(api::kind_of<StorageClass>().key({}, volumes::class_of(before)));
    if (!volumes::class_of(before).empty() && found &&
        found->as<StorageClass>().allow_volume_expansion())
      return {};
    return api::fail(
        forbidden(of,
                  "only dynamically provisioned pvc can be resized and the storageclass that "
                  "provisions the pvc must support resize"));
  }
};

}  // namespace

plugin_ptr make_claim_resize() {
  return std::make_shared<claim_resize>();
}

}  // namespace troupe::actors::admission

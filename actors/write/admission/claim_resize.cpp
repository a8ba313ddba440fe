// A claim may request more only if it is bound and its StorageClass allows expansion: 403
// otherwise.
//
// kubernetes: plugin/pkg/admission/storage/persistentvolume/resize.
#include "actors/write/admission/plugins.hpp"
#include "api/object/pod_resources.hpp"
#include "api/schema/core_persistent_volume.pb.h"
#include "api/schema/storage_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using api::core::v1::PersistentVolumeClaim;
using api::storage::v1::StorageClass;

api::quantity storage_of(const PersistentVolumeClaim& claim) {
  const auto amounts = api::read_resource_list(claim.spec().resources().requests());
  const auto found = amounts.find("storage");
  return found == amounts.end() ? api::quantity{} : found->second;
}

class claim_resize final : public plugin {
 public:
  std::string_view name() const noexcept override { return "PersistentVolumeClaimResize"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    return op == operation::update && &kind == &api::kind_of<PersistentVolumeClaim>();
  }

  verdict validate(const attributes& of) const override {
    const auto& now = static_cast<const PersistentVolumeClaim&>(*of.now);
    const auto& before = static_cast<const PersistentVolumeClaim&>(*of.before);
    if (storage_of(now) <= storage_of(before)) return {};
    if (before.status().phase() != "Bound")
      return api::fail(forbidden(of, "Only bound persistent volume claims can be expanded"));
    if (allows_expansion(of, now)) return {};
    return api::fail(forbidden(of,
                               "only dynamically provisioned pvc can be resized and the "
                               "storageclass that provisions the pvc must support resize"));
  }

 private:
  static bool allows_expansion(const attributes& of, const PersistentVolumeClaim& claim) {
    const auto& name = claim.spec().storage_class_name();
    const auto found =
        name.empty() ? nullptr : of.state.find(api::kind_of<StorageClass>().key({}, name));
    return found && found->as<StorageClass>().allow_volume_expansion();
  }
};

}  // namespace

plugin_ptr make_claim_resize() {
  return std::make_shared<claim_resize>();
}

}  // namespace troupe::actors::admission

// Adds the finalizers that keep claims and volumes while they are in use
// (actors/volumes/control/claim_controller.hpp).
//
// kubernetes: plugin/pkg/admission/storage/storageobjectinuseprotection.

#include "actors/core/finalizers.hpp"
#include "actors/volumes/claim_rules.hpp"
#include "actors/volumes/defaults.hpp"
#include "actors/write/admission/plugins.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using volumes::PersistentVolume;
using volumes::PersistentVolumeClaim;

class storage_protection final : public plugin {
 public:
  std::string_view name() const noexcept override { return "StorageObjectInUseProtection"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    return op == operation::create && (&kind == &api::kind_of<PersistentVolumeClaim>() ||
                                       &kind == &api::kind_of<PersistentVolume>());
  }

  verdict mutate(const attributes& of, api::body& now, persistence::transaction&) const override {
    const char* finalizer = &of.kind == &api::kind_of<PersistentVolume>()
                                ? volumes::defaults::volume_protection
                                : volumes::defaults::claim_protection;
    set_finalizer(api::meta_of(now), finalizer, true);
    return {};
  }
};

}  // namespace

plugin_ptr make_storage_protection() {
  return std::make_shared<storage_protection>();
}

}  // namespace troupe::actors::admission

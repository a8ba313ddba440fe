// Sets the default StorageClass of a claim without a class: the newest of the marked ones.
//
// kubernetes: plugin/pkg/admission/storage/storageclass/setdefault. The binder sets it for claims
// that were created while there was no default.
#include "actors/volumes/binder_plan.hpp"
#include "actors/write/admission/plugins.hpp"
#include "api/scheme.hpp"

namespace troupe::actors::admission {
namespace {

using volumes::PersistentVolumeClaim;
using volumes::StorageClass;

class default_storage_class final : public plugin {
 public:
  std::string_view name() const noexcept override { return "DefaultStorageClass"; }

  bool handles(const api::kind_info& kind, operation op) const override {
    return op == operation::create && &kind == &api::kind_of<PersistentVolumeClaim>();
  }

  verdict mutate(const attributes& of, api::body& now, persistence::transaction&) const override {
    auto& claim = static_cast<PersistentVolumeClaim&>(now);
    if (claim.spec().has_storage_class_name() || !volumes::class_of(claim).empty()) return {};
    std::vector<api::object_ptr> classes;
    of.state.scan(api::kind_of<StorageClass>().prefix(), {},
                  [&](std::string_view, const api::object_ptr& found) {
                    classes.push_back(found);
                    return true;
                  });
    if (const auto chosen = volumes::default_class_of(classes))
      claim.mutable_spec()->set_storage_class_name(chosen->meta().name());
    return {};
  }
};

}  // namespace

plugin_ptr make_default_storage_class() {
  return std::make_shared<default_storage_class>();
}

}  // namespace troupe::actors::admission

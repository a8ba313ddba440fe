#include "actors/controllers/root_ca/root_ca.hpp"

#include <utility>

#include "actors/controllers/kit/reconciler.hpp"
#include "actors/write/admission/api_access.hpp"
#include "api/schema/core_namespace.pb.h"

namespace troupe::actors::root_ca {

using api::core::v1::ConfigMap;
using api::core::v1::Namespace;

namespace {

constexpr const char* about_key = "kubernetes.io/description";
constexpr const char* about =
    "Certificates of the authority that signs the certificate of the API server.";

class publisher final : public reconciler {
 public:
  using reconciler::reconciler;

 private:
  void sync() override {
    const auto certificates = authority();
    if (certificates.empty() || owner()->meta().has_deletion_timestamp()) return;
    if (dependents().empty()) return publish(certificates);
    const auto& map = dependents().begin()->second;
    auto changed = map->copy_as<ConfigMap>();
    if (restore_map(*changed, certificates))
      replace(map, std::move(changed), [this] { log_decision("restores its CA certificates"); });
  }

  void publish(const std::string& certificates) {
    const auto sent = create(make_map(owner()->meta().name(), certificates),
                             [this] { log_decision("publishes the CA certificates"); });
    if (!sent) {
      record(true, "FailedCreate", "Error creating: " + sent.error().message);
      retry();
    }
  }
};

}  // namespace

std::unique_ptr<ConfigMap> make_map(const std::string& ns, const std::string& certificates) {
  auto made = std::make_unique<ConfigMap>();
  auto& meta = *made->mutable_metadata();
  meta.set_name(std::string{admission::authority_map});
  meta.set_namespace_(ns);
  (*meta.mutable_annotations())[about_key] = about;
  restore_map(*made, certificates);
  return made;
}

bool restore_map(ConfigMap& map, const std::string& certificates) {
  const auto& data = map.data();
  const auto found = data.find(std::string{admission::authority_key});
  if (data.size() == 1 && found != data.end() && found->second == certificates &&
      map.binary_data().empty())
    return false;
  map.clear_data();
  map.clear_binary_data();
  (*map.mutable_data())[std::string{admission::authority_key}] = certificates;
  return true;
}

controller_type controller() {
  controller_type type{
      .name = "root_ca",
      .purpose = "the cluster's CA certificates in every namespace",
      .owners = {{&api::kind_of<Namespace>(), "root-ca", "root-ca-cert-publisher"}},
      .dependents = {&api::kind_of<ConfigMap>()},
      .make = make_controller<publisher>};
  type.owners.front().dependent_name = admission::authority_map;
  return type;
}

}  // namespace troupe::actors::root_ca

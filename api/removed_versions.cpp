#include "api/removed_versions.hpp"

#include <array>
#include <atomic>

#include "api/invariant.hpp"
#include "api/removed/batch_v1beta1.pb.h"
#include "api/removed/discovery_v1beta1.pb.h"
#include "api/removed/policy_v1beta1.pb.h"
#include "api/scheme.hpp"

namespace troupe::api {

namespace {

std::atomic<bool> served{false};
std::atomic<bool> asked{false};

}  // namespace

std::span<const google::protobuf::Descriptor* const> removed_versions() {
  static const std::array types{batch::v1beta1::CronJob::descriptor(),
                                discovery::v1beta1::EndpointSlice::descriptor(),
                                policy::v1beta1::PodDisruptionBudget::descriptor()};
  return types;
}

const kind_info* find_removed_version(std::string_view api_version, std::string_view kind) {
  for (const auto* type : removed_versions()) {
    const auto& found = kind_of_type(*type);
    if (found.kind() == kind && found.api_version() == api_version) return &found;
  }
  return nullptr;
}

void serve_removed_versions() {
  served = true;
  ensure(!asked, "the versions are chosen before the kinds are used");
}

bool are_removed_versions_served() {
  asked = true;
  return served;
}

}  // namespace troupe::api

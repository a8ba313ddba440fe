#include "api/storage/stored_versions.hpp"

#include <array>

#include "api/kind_row.hpp"
#include "api/schema/autoscaling_v2.pb.h"
#include "api/storage/autoscaler_version.hpp"

namespace troupe::api {

namespace {

using autoscaling::v2::HorizontalPodAutoscaler;

struct older_version {
  std::string_view group, plural;  // an empty plural means all
  int last_minor;                  // the last release that stores it
  std::string_view version;
};

// pkg/kubeapiserver/default_storage_factory_builder.go and the priorities in pkg/apis/*/install of
// Kubernetes 1.20. If a later release may store a newer version that 1.21 can read as well, the
// newer one is written from 1.22 on.
constexpr std::array older_versions = {
    older_version{"admissionregistration.k8s.io", "mutatingwebhookconfigurations", 21, "v1beta1"},
    older_version{"admissionregistration.k8s.io", "validatingwebhookconfigurations", 21, "v1beta1"},
    older_version{"admissionregistration.k8s.io", "", 29, "v1beta1"},
    older_version{"apiextensions.k8s.io", "", 21, "v1beta1"},
    older_version{"apiregistration.k8s.io", "", 21, "v1beta1"},
    older_version{"batch", "cronjobs", 21, "v1beta1"},
    older_version{"certificates.k8s.io", "", 21, "v1beta1"},
    older_version{"coordination.k8s.io", "", 21, "v1beta1"},
    older_version{"discovery.k8s.io", "", 21, "v1beta1"},
    older_version{"flowcontrol.apiserver.k8s.io", "", 22, "v1beta1"},
    older_version{"flowcontrol.apiserver.k8s.io", "", 25, "v1beta2"},
    older_version{"flowcontrol.apiserver.k8s.io", "", 28, "v1beta3"},
    older_version{"networking.k8s.io", "ingresses", 21, "v1beta1"},
    older_version{"networking.k8s.io", "ingressclasses", 21, "v1beta1"},
    older_version{"node.k8s.io", "", 21, "v1beta1"},
    older_version{"policy", "poddisruptionbudgets", 21, "v1beta1"},
    older_version{"storage.k8s.io", "csidrivers", 21, "v1beta1"},
    older_version{"storage.k8s.io", "csistoragecapacities", 20, "v1alpha1"},
    older_version{"storage.k8s.io", "csistoragecapacities", 23, "v1beta1"},
};

constexpr int last_minor_without_autoscaling_v2 = 22;

bool is_autoscaler(const kind_info& kind) {
  return &kind.type() == HorizontalPodAutoscaler::descriptor();
}

bool is_known_version(std::string_view version) {
  return version == "v1" || version == "v1beta1" || version == "v1beta2" || version == "v1beta3" ||
         version == "v1alpha1";
}

}  // namespace

bool has_one_stored_version(const kind_info& kind, int minor) {
  return !is_autoscaler(kind) || minor > last_minor_without_autoscaling_v2;
}

std::string stored_api_version(const kind_info& kind, int minor) {
  for (const auto& each : older_versions)
    if (each.group == kind.group() && minor <= each.last_minor &&
        (each.plural.empty() || each.plural == kind.plural()))
      return std::string{each.group} + "/" + std::string{each.version};
  return kind.api_version();
}

std::string stored_api_version(const kind_info& kind, const body& content, int minor) {
  if (has_one_stored_version(kind, minor)) return stored_api_version(kind, minor);
  // Every release without v2 can read v2beta2, which is v2 under another name.
  const auto& autoscaler = static_cast<const HorizontalPodAutoscaler&>(content);
  return fits_autoscaling_v1(autoscaler) ? "autoscaling/v1" : "autoscaling/v2beta2";
}

stored_version find_stored_version(const kind_info& kind, std::string_view api_version) {
  const auto slash = api_version.find('/');
  const auto group =
      slash == std::string_view::npos ? std::string_view{} : api_version.substr(0, slash);
  const auto version =
      slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
  const bool is_own = api_version == kind.api_version();
  if (is_own) return {stored_form::same};
  // The kinds of extensions/v1beta1 moved to apps, networking.k8s.io and policy.
  if (group != kind.group() && group != "extensions" && group != "events.k8s.io") return {};
  if (is_autoscaler(kind)) {
    if (version == "v1") return {stored_form::shape, &autoscaler_v1_shape()};
    return {version == "v2beta2" ? stored_form::same : stored_form::unknown};
  }
  if (!is_known_version(version)) return {};
  if (const auto form = kind.row().earlier_form) return {stored_form::shape, &form()};
  return {stored_form::same};
}

}  // namespace troupe::api

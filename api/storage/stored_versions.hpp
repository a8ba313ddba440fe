// The API versions in which releases of kube-apiserver store objects.
#pragma once

#include <string>
#include <string_view>

#include "api/kind.hpp"
#include "api/storage/version_shapes.hpp"

namespace troupe::api {

// The releases 1.N for which objects can be written: from the oldest tested one to the release that
// this server reports.
inline constexpr int first_storage_minor = 20;
inline constexpr int last_storage_minor = 33;

// False if the version depends on the object's content (HorizontalPodAutoscaler).
bool has_one_stored_version(const kind_info& kind, int minor);
// The group and version in which the release stores objects of a built-in kind.
std::string stored_api_version(const kind_info& kind, int minor);
std::string stored_api_version(const kind_info& kind, const body& content, int minor);

enum class stored_form { same, shape, unknown };
struct stored_version {
  stored_form form = stored_form::unknown;
  const version_shape* shape = nullptr;
};
// The form of the kind's objects that were stored in that group and version.
stored_version find_stored_version(const kind_info& kind, std::string_view api_version);

}  // namespace troupe::api

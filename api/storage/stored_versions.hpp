// The versions in which kube-apiserver stores objects, by its release.
#pragma once

#include <string>
#include <string_view>

#include "api/kind.hpp"
#include "api/storage/version_shapes.hpp"

namespace troupe::api {

// The releases 1.N for which objects can be written: the one that is claimed, and back to the
// oldest that is tried.
inline constexpr int first_storage_minor = 20;
inline constexpr int last_storage_minor = 33;

// False where the version depends on what the object says (HorizontalPodAutoscaler).
bool has_one_stored_version(const kind_info& kind, int minor);
// The group and version in which the release stores objects of a built-in kind.
std::string stored_api_version(const kind_info& kind, int minor);
std::string stored_api_version(const kind_info& kind, const body& content, int minor);

enum class stored_form { same, shape, unknown };
struct stored_version {
  stored_form form = stored_form::unknown;
  const version_shape* shape = nullptr;
};
// How objects of the kind look that were stored in that group and version.
stored_version find_stored_version(const kind_info& kind, std::string_view api_version);

}  // namespace troupe::api

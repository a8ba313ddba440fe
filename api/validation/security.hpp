// Rules of security contexts; for files of this folder.
#pragma once

#include <string>

#include "api/schema/core_security.pb.h"
#include "api/validation/field_errors.hpp"

namespace troupe::api::validation {

// A relative path that does not leave its base directory.
void check_descending(field_errors& out, std::string_view field, const std::string& path);

// The profile's file or name is set only with type Localhost (kubernetes: validation.go,
// validateSeccompProfileField, ValidateAppArmorProfileField). `out.at` is the path of the profile.
void check_profile(field_errors& out, const core::v1::SeccompProfile& profile);
void check_profile(field_errors& out, const core::v1::AppArmorProfile& profile);

// Both profiles of a container's or a pod's context. `out.at` is the path of the context.
template <class Context>
void check_profiles(field_errors& out, const Context& context) {
  if (context.has_seccomp_profile()) {
    const auto step = out.at.field("seccompProfile");
    check_profile(out, context.seccomp_profile());
  }
  if (context.has_app_armor_profile()) {
    const auto step = out.at.field("appArmorProfile");
    check_profile(out, context.app_armor_profile());
  }
}

}  // namespace troupe::api::validation

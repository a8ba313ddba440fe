#include "api/validation/security.hpp"

namespace troupe::api::validation {

namespace {

constexpr std::string_view localhost = "Localhost";
constexpr std::size_t longest_app_armor_profile = 4095;

}  // namespace

void check_descending(field_errors& out, std::string_view field, const std::string& path) {
  if (path.starts_with('/')) out.invalid(field, path, "must be a relative path");
  if (("/" + path + "/").find("/../") != std::string::npos)
    out.invalid(field, path, "must not contain '..'");
}

void check_profile(field_errors& out, const core::v1::SeccompProfile& profile) {
  const auto& file = profile.localhost_profile();
  if (profile.type() != localhost) {
    if (profile.has_localhost_profile())
      out.invalid("localhostProfile", file, "can only be set when seccomp type is Localhost");
  } else if (!profile.has_localhost_profile()) {
    out.required("localhostProfile", "must be set when seccomp type is Localhost");
  } else {
    check_descending(out, "localhostProfile", file);
  }
}

void check_profile(field_errors& out, const core::v1::AppArmorProfile& profile) {
  const auto& name = profile.localhost_profile();
  if (profile.type() != localhost) {
    if (profile.has_localhost_profile())
      out.invalid("localhostProfile", name, "can only be set when AppArmor type is Localhost");
  } else if (name.find_first_not_of(" \t") == std::string::npos) {
    out.required("localhostProfile", "must be set when AppArmor type is Localhost");
  } else if (name.front() == ' ' || name.back() == ' ') {
    out.invalid("localhostProfile", name, "must not be padded with whitespace");
  } else if (name.size() > longest_app_armor_profile) {
    out.too_long("localhostProfile", longest_app_armor_profile);
  }
}

}  // namespace troupe::api::validation

// The volumes of a pod.
#include <array>
#include <set>

#include "api/validation/checks.hpp"
#include "api/values/quantity.hpp"

namespace troupe::api::validation {
namespace {

using namespace core::v1;

bool goes_up(const std::string& path) {
  return ("/" + path + "/").find("/../") != std::string::npos;
}

// The path of a file in a volume: relative, inside it, and not starting with ".." (for updates).
void check_file(field_errors& out, const std::string& path) {
  if (path.empty()) return;
  if (path.starts_with('/')) out.invalid("path", path, "must be a relative path");
  if (goes_up(path))
    out.invalid("path", path, "must not contain '..'");
  else if (path.starts_with(".."))
    out.invalid("path", path, "must not start with '..'");
}

template <class Items>
void check_items(field_errors& out, const Items& items) {
  for (int i = 0; i < items.size(); ++i) {
    const auto step = out.at.item("items", i);
    check_file(out, items[i].path());
  }
}

void check_downward(field_errors& out,
                    const google::protobuf::RepeatedPtrField<DownwardAPIVolumeFile>& items) {
  for (int i = 0; i < items.size(); ++i) {
    const auto step = out.at.item("items", i);
    check_file(out, items[i].path());
    const bool field = items[i].has_field_ref();
    const bool resource = items[i].has_resource_field_ref();
    if (field && resource)
      out.invalid({}, "resource",
                  "fieldRef and resourceFieldRef can not be specified simultaneously");
    else if (!field && !resource)
      out.required({}, "one of fieldRef and resourceFieldRef is required");
    else if (resource && items[i].resource_field_ref().container_name().empty()) {
      const auto inner = out.at.field("resourceFieldRef");
      out.required("containerName");
    }
  }
}

void check_empty_dir(field_errors& out, const EmptyDirVolumeSource& source) {
  const auto step = out.at.field("emptyDir");
  const auto& medium = source.medium();
  static constexpr std::array<std::string_view, 3> media = {"", "HugePages", "Memory"};
  if (!medium.empty() && medium != "Memory" && medium != "HugePages" &&
      !medium.starts_with("HugePages-"))
    out.unsupported("medium", medium, media);
  if (!source.has_size_limit()) return;
  const auto limit = quantity::parse(source.size_limit().string());
  if (!limit || limit->sign() < 0)
    out.forbidden("sizeLimit", "SizeLimit field must be a valid resource quantity");
}

void check_projected(field_errors& out, const ProjectedVolumeSource& source) {
  const auto step = out.at.field("projected");
  for (int i = 0; i < source.sources_size(); ++i) {
    const auto inner = out.at.item("sources", i);
    const auto& one = source.sources(i);
    if (one.has_secret()) {
      const auto place = out.at.field("secret");
      if (one.secret().local_object_reference().name().empty()) out.required("name");
      check_items(out, one.secret().items());
    }
    if (one.has_config_map()) {
      const auto place = out.at.field("configMap");
      if (one.config_map().local_object_reference().name().empty()) out.required("name");
      check_items(out, one.config_map().items());
    }
    if (one.has_downward_api()) {
      const auto place = out.at.field("downwardAPI");
      check_downward(out, one.downward_api().items());
    }
    if (one.has_service_account_token()) {
      const auto place = out.at.field("serviceAccountToken");
      check_file(out, one.service_account_token().path());
    }
  }
}

void check_source(field_errors& out, const VolumeSource& source) {
  if (source.has_host_path()) {
    const auto step = out.at.field("hostPath");
    if (goes_up(source.host_path().path()))
      out.invalid("path", source.host_path().path(), "must not contain '..'");
  }
  if (source.has_empty_dir()) check_empty_dir(out, source.empty_dir());
  if (source.has_secret()) {
    const auto step = out.at.field("secret");
    if (source.secret().secret_name().empty()) out.required("secretName");
    check_items(out, source.secret().items());
  }
  if (source.has_config_map()) {
    const auto step = out.at.field("configMap");
    if (source.config_map().local_object_reference().name().empty()) out.required("name");
    check_items(out, source.config_map().items());
  }
  if (source.has_downward_api()) {
    const auto step = out.at.field("downwardAPI");
    check_downward(out, source.downward_api().items());
  }
  if (source.has_projected()) check_projected(out, source.projected());
}

}  // namespace

void check_volumes(field_errors& out, const PodSpec& spec) {
  std::set<std::string_view> names;
  for (int i = 0; i < spec.volumes_size(); ++i) {
    const auto step = out.at.item("volumes", i);
    const auto& volume = spec.volumes(i);
    if (!volume.name().empty() && !names.insert(volume.name()).second)
      out.duplicate("name", volume.name());
    check_source(out, volume.volume_source());
  }
}

}  // namespace troupe::api::validation

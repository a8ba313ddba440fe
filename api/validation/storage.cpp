// Storage classes and drivers (kubernetes: pkg/apis/storage/validation).
#include "api/validation/storage.hpp"

#include <algorithm>
#include <set>

#include "api/codec/codec.hpp"
#include "api/equality.hpp"
#include "api/validation/checks.hpp"
#include "api/values/ascii.hpp"
#include "api/values/quantity.hpp"

namespace troupe::api::validation {
namespace {

using namespace storage::v1;

// Kubernetes, storage/validation.
constexpr int most_parameters = 512;
constexpr std::size_t parameters_bytes = 256 * 1024;
constexpr std::size_t driver_name_bytes = 63;
constexpr std::size_t node_id_bytes = 192;
constexpr std::int64_t shortest_token_seconds = 10 * 60;
constexpr std::int64_t longest_token_seconds = std::int64_t{1} << 32;

void check_parameters(field_errors& out, const label_map& parameters) {
  if (static_cast<int>(parameters.size()) > most_parameters)
    return out.too_long("parameters", most_parameters);
  std::size_t bytes = 0;
  for (const auto& [name, value] : parameters) {
    if (name.empty()) out.invalid("parameters", name, "field can not be empty.");
    bytes += name.size() + value.size();
  }
  if (bytes > parameters_bytes) out.too_long("parameters", parameters_bytes);
}

bool equal(const label_map& a, const label_map& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const auto& each) {
           const auto found = b.find(each.first);
           return found != b.end() && found->second == each.second;
         });
}

// Kubernetes, core/validation: ValidateCSIDriverName.
void check_driver_name(field_errors& out, std::string_view field, const std::string& name) {
  if (name.empty()) return out.required(field);
  if (name.size() > driver_name_bytes) out.too_long(field, driver_name_bytes);
  out.each(field, name, check_dns_subdomain(to_lower(name)));
}

void check_tokens(field_errors& out, const CSIDriverSpec& spec) {
  std::set<std::string> audiences;
  for (int i = 0; i < spec.token_requests_size(); ++i) {
    const auto step = out.at.item("tokenRequests", i);
    const auto& request = spec.token_requests(i);
    if (!audiences.insert(request.audience()).second) out.duplicate("audience", request.audience());
    if (!request.has_expiration_seconds()) continue;
    const auto seconds = request.expiration_seconds();
    if (seconds < shortest_token_seconds)
      out.invalid("expirationSeconds", seconds, "may not specify a duration less than 10 minutes");
    if (seconds > longest_token_seconds)
      out.invalid("expirationSeconds", seconds,
                  "may not specify a duration larger than 2^32 seconds");
  }
}

void check_topology_keys(field_errors& out, const CSINodeDriver& driver) {
  std::set<std::string> seen;
  for (int i = 0; i < driver.topology_keys_size(); ++i) {
    const auto& key = driver.topology_keys(i);
    const auto step = out.at.item("topologyKeys", i);
    if (!seen.insert(key).second) out.duplicate({}, key);
    if (key.empty())
      out.required({});
    else
      out.each({}, key, check_qualified_name(key));
  }
}

}  // namespace

void check(field_errors& out, const StorageClass& object) {
  if (!object.provisioner().empty())
    out.each("provisioner", object.provisioner(),
             check_qualified_name(to_lower(object.provisioner())));
  check_parameters(out, object.parameters());
}

void check_update(field_errors& out, const StorageClass& now, const StorageClass& was) {
  if (!equal(now.parameters(), was.parameters()))
    out.forbidden("parameters", "updates to parameters are forbidden.");
  if (now.provisioner() != was.provisioner())
    out.forbidden("provisioner", "updates to provisioner are forbidden.");
  if (now.reclaim_policy() != was.reclaim_policy())
    out.forbidden("reclaimPolicy", "updates to reclaimPolicy are forbidden.");
}

void check(field_errors& out, const CSIDriver& object) {
  {
    const auto step = out.at.field("metadata");
    if (object.metadata().name().size() > driver_name_bytes)
      out.too_long("name", driver_name_bytes);
  }
  const auto step = out.at.field("spec");
  check_tokens(out, object.spec());
}

void check(field_errors& out, const CSINode& object) {
  const auto step = out.at.field("spec");
  std::set<std::string> names;
  for (int i = 0; i < object.spec().drivers_size(); ++i) {
    const auto inner = out.at.item("drivers", i);
    const auto& driver = object.spec().drivers(i);
    if (!driver.name().empty()) check_driver_name(out, "name", driver.name());
    if (!names.insert(driver.name()).second) out.duplicate("name", driver.name());
    if (driver.node_id().size() > node_id_bytes) out.too_long("nodeID", node_id_bytes);
    check_topology_keys(out, driver);
  }
}

void check_update(field_errors& out, const CSINode& now, const CSINode& was) {
  const auto step = out.at.field("spec");
  for (const auto& before : was.spec().drivers())
    for (int i = 0; i < now.spec().drivers_size(); ++i) {
      const auto& driver = now.spec().drivers(i);
      if (driver.name() != before.name()) continue;
      auto allowed = before;
      if (driver.has_allocatable()) *allowed.mutable_allocatable() = driver.allocatable();
      if (same_meaning(driver, allowed)) continue;
      out.invalid_json("drivers", encode_json(driver, {}, {}), "field is immutable");
    }
}

void check(field_errors& out, const CSIStorageCapacity& object) {
  if (!object.storage_class_name().empty())
    out.each("storageClassName", object.storage_class_name(),
             check_dns_subdomain(object.storage_class_name()));
  const auto amount = [&](std::string_view field, const resource::Quantity& value) {
    const auto parsed = quantity::parse(value.string());
    if (!parsed)
      out.invalid(field, value.string(), quantity_syntax);
    else if (parsed->sign() < 0)
      out.invalid(field, value.string(), "must be greater than or equal to 0");
  };
  if (object.has_capacity()) amount("capacity", object.capacity());
  if (object.has_maximum_volume_size()) amount("maximumVolumeSize", object.maximum_volume_size());
  if (!object.has_node_topology()) return;
  const auto step = out.at.field("nodeTopology");
  check_label_selector(out, object.node_topology());
}

void check(field_errors& out, const VolumeAttachment& object) {
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  if (!spec.attacher().empty()) check_driver_name(out, "attacher", spec.attacher());
  if (!spec.node_name().empty())
    out.each("nodeName", spec.node_name(), check_dns_subdomain(spec.node_name()));
  const bool named = spec.source().has_persistent_volume_name();
  const bool described = spec.source().has_inline_volume_spec();
  if (!named && !described)
    out.required("source", "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
  if (named && described)
    out.forbidden("source",
                  "must specify exactly one of inlineVolumeSpec and persistentVolumeName");
  const auto inner = out.at.field("source");
  if (named && spec.source().persistent_volume_name().empty())
    out.required("persistentVolumeName", "must specify non empty persistentVolumeName");
}

void check_update(field_errors& out, const VolumeAttachment& now, const VolumeAttachment& was) {
  if (!same_meaning(now.spec(), was.spec()))
    out.invalid_json("spec", encode_json(now.spec(), {}, {}), "field is immutable");
}

}  // namespace troupe::api::validation

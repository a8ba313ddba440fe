// The pod spec as a whole, and pod templates.
#include "api/validation/checks.hpp"
#include "api/validation/security.hpp"

namespace troupe::api::validation {
namespace {

using namespace core::v1;

// Kubernetes, core/validation: MaxDNSNameservers, MaxDNSSearchPaths, MaxDNSSearchListChars.
constexpr int most_name_servers = 3;
constexpr int most_searches = 32;
constexpr std::size_t search_list_bytes = 2048;

void check_dns(field_errors& out, const PodSpec& spec) {
  if (spec.dns_policy() == "None" && !spec.has_dns_config()) {
    out.required("dnsConfig", "must provide `dnsConfig` when `dnsPolicy` is None");
    return;
  }
  if (!spec.has_dns_config()) return;
  const auto step = out.at.field("dnsConfig");
  const auto& config = spec.dns_config();
  if (spec.dns_policy() == "None" && config.nameservers().empty())
    out.required("nameservers",
                 "must provide at least one DNS nameserver when `dnsPolicy` is None");
  if (config.nameservers_size() > most_name_servers)
    out.invalid("nameservers", config.nameservers_size(),
                "must not have more than " + std::to_string(most_name_servers) + " nameservers");
  for (int i = 0; i < config.nameservers_size(); ++i) {
    const auto inner = out.at.item("nameservers", i);
    out.each({}, config.nameservers(i), check_ip(config.nameservers(i)));
  }
  std::size_t bytes = 0;
  for (const auto& search : config.searches())
    bytes += search.size() + 1;
  if (config.searches_size() > most_searches)
    out.invalid("searches", config.searches_size(),
                "must not have more than " + std::to_string(most_searches) + " search paths");
  if (bytes > search_list_bytes + 1)
    out.invalid("searches", static_cast<std::int64_t>(bytes),
                "must not have more than " + std::to_string(search_list_bytes) +
                    " characters (including spaces) in the search list");
  for (int i = 0; i < config.options_size(); ++i) {
    const auto inner = out.at.item("options", i);
    if (config.options(i).name().empty()) out.required("name", "must not be empty");
  }
}

void check_context(field_errors& out, const PodSpec& spec) {
  const auto step = out.at.field("securityContext");
  check_profiles(out, spec.security_context());
  const auto& groups = spec.security_context().supplemental_groups();
  for (int i = 0; i < groups.size(); ++i) {
    if (groups[i] >= 0 && groups[i] <= INT32_MAX) continue;
    const auto inner = out.at.item("supplementalGroups", i);
    out.invalid({}, groups[i], "must be between 0 and 2147483647, inclusive");
  }
  if (spec.host_pid() && spec.share_process_namespace())
    out.invalid("shareProcessNamespace", true,
                "ShareProcessNamespace and HostPID cannot both be enabled");
}

// An absent spec is reported by the schema's rules.
void check_spec(field_errors& out, const PodSpec& spec, bool in_template) {
  check_containers(out, spec);
  if (in_template && !spec.ephemeral_containers().empty())
    out.forbidden("ephemeralContainers", "ephemeral containers not allowed in pod template");
  check_volumes(out, spec);
  check_scheduling(out, spec);
  check_dns(out, spec);
  check_context(out, spec);
  if (spec.termination_grace_period_seconds() < 0)
    out.invalid("terminationGracePeriodSeconds", spec.termination_grace_period_seconds(),
                "must be greater than or equal to 0");
  check_overhead(out, spec.overhead());
  for (int i = 0; i < spec.image_pull_secrets_size(); ++i) {
    const auto step = out.at.item("imagePullSecrets", i);
    if (spec.image_pull_secrets(i).name().empty()) out.required("name");
  }
}

}  // namespace

void check_pod_spec(field_errors& out, const PodSpec& spec) {
  check_spec(out, spec, false);
}

void check_pod_template(field_errors& out, const PodTemplateSpec& made_from) {
  {
    const auto step = out.at.field("metadata");
    check_labels(out, "labels", made_from.metadata().labels());
    check_annotations(out, made_from.metadata().annotations());
  }
  const auto step = out.at.field("spec");
  check_spec(out, made_from.spec(), true);
}

}  // namespace troupe::api::validation

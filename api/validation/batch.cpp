// Jobs and cron jobs (kubernetes: pkg/apis/batch/validation).
#include <set>

#include "api/codec/codec.hpp"
#include "api/equality.hpp"
#include "api/validation/more_workloads.hpp"
#include "api/validation/workload_parts.hpp"
#include "api/values/cron.hpp"

namespace troupe::api::validation {
namespace {

using batch::v1::CronJob;
using batch::v1::Job;
using batch::v1::JobSpec;

// Kubernetes, batch/validation.
constexpr int most_indexed_pods = 100'000;
constexpr int most_policy_rules = 20;
constexpr int most_exit_codes = 255;
constexpr std::size_t manager_bytes = 63;
constexpr std::size_t cron_job_name_bytes = 52;  // a job's name is eleven characters longer

bool is_indexed(const JobSpec& spec) {
  return spec.completion_mode() == "Indexed";
}

void check_indexed(field_errors& out, const JobSpec& spec) {
  constexpr std::string_view needs_indexed = "requires indexed completion mode";
  if (!is_indexed(spec)) {
    if (spec.has_backoff_limit_per_index())
      out.invalid("backoffLimitPerIndex", spec.backoff_limit_per_index(), needs_indexed);
    if (spec.has_max_failed_indexes())
      out.invalid("maxFailedIndexes", spec.max_failed_indexes(), needs_indexed);
    if (spec.has_success_policy()) out.invalid_json("successPolicy", "{}", needs_indexed);
    return;
  }
  if (!spec.has_completions()) out.required("completions", "when completion mode is Indexed");
  if (spec.parallelism() > most_indexed_pods)
    out.invalid("parallelism", spec.parallelism(),
                "must be less than or equal to " + std::to_string(most_indexed_pods) +
                    " when completion mode is Indexed");
  if (spec.has_max_failed_indexes() && !spec.has_backoff_limit_per_index())
    out.required("backoffLimitPerIndex", "when maxFailedIndexes is specified");
}

void check_exit_codes(field_errors& out,
                      const batch::v1::PodFailurePolicyOnExitCodesRequirement& on) {
  const auto step = out.at.field("onExitCodes");
  out.at_most("values", on.values_size(), most_exit_codes);
  std::set<int> seen;
  for (int i = 0; i < on.values_size(); ++i) {
    const auto inner = out.at.item("values", i);
    if (on.operator_() == "In" && on.values(i) == 0)
      out.invalid({}, 0, "must not be 0 for the In operator");
    if (!seen.insert(on.values(i)).second) out.duplicate({}, std::to_string(on.values(i)));
  }
}

void check_failure_policy(field_errors& out, const JobSpec& spec) {
  if (!spec.has_pod_failure_policy()) return;
  const auto step = out.at.field("podFailurePolicy");
  const auto& rules = spec.pod_failure_policy().rules();
  out.at_most("rules", rules.size(), most_policy_rules);
  for (int i = 0; i < rules.size(); ++i) {
    const auto inner = out.at.item("rules", i);
    const auto& rule = rules[i];
    if (rule.action() == "FailIndex" && !spec.has_backoff_limit_per_index())
      out.invalid("action", rule.action(), "requires the backoffLimitPerIndex to be set");
    const bool by_condition = !rule.on_pod_conditions().empty();
    if (rule.has_on_exit_codes()) check_exit_codes(out, rule.on_exit_codes());
    if (rule.has_on_exit_codes() && by_condition)
      out.invalid({}, "", "specifying both OnExitCodes and OnPodConditions is not supported");
    if (!rule.has_on_exit_codes() && !by_condition)
      out.invalid({}, "", "specifying one of OnExitCodes and OnPodConditions is required");
  }
}

void check_success_policy(field_errors& out, const JobSpec& spec) {
  if (!spec.has_success_policy() || !is_indexed(spec)) return;
  const auto step = out.at.field("successPolicy");
  const auto& rules = spec.success_policy().rules();
  out.at_most("rules", rules.size(), most_policy_rules);
  for (int i = 0; i < rules.size(); ++i) {
    const auto inner = out.at.item("rules", i);
    if (!rules[i].has_succeeded_count() && !rules[i].has_succeeded_indexes())
      out.required({}, "at least one of succeededCount or succeededIndexes must be specified");
    if (rules[i].has_succeeded_count() && spec.has_completions() &&
        rules[i].succeeded_count() > spec.completions())
      out.invalid("succeededCount", rules[i].succeeded_count(),
                  "must be less than or equal to " + std::to_string(spec.completions()) +
                      " (the number of specified completions)");
  }
}

void check_restart_policy(field_errors& out, const JobSpec& spec) {
  const auto step = out.at.field("template");
  const auto inner = out.at.field("spec");
  const auto& policy = spec.template_().spec().restart_policy();
  if (policy != "OnFailure" && policy != "Never")
    out.required("restartPolicy", R"(valid values: "OnFailure", "Never")");
  else if (spec.has_pod_failure_policy() && policy != "Never")
    out.invalid("restartPolicy", policy,
                "only \"Never\" is supported when podFailurePolicy is specified");
}

// For a job and for a cron job's template.
void check_job_spec(field_errors& out, const JobSpec& spec) {
  check_indexed(out, spec);
  check_failure_policy(out, spec);
  check_success_policy(out, spec);
  if (spec.pod_replacement_policy() == "TerminatingOrFailed" && spec.has_pod_failure_policy())
    out.unsupported("podReplacementPolicy", spec.pod_replacement_policy(),
                    std::initializer_list<std::string_view>{"Failed"});
  if (spec.has_managed_by()) {
    if (spec.managed_by().size() > manager_bytes) out.too_long("managedBy", manager_bytes);
    if (spec.managed_by().find('/') == std::string::npos)
      out.invalid("managedBy", spec.managed_by(),
                  "must be a domain-prefixed path (such as \"acme.io/foo\")");
  }
  check_restart_policy(out, spec);
  const auto step = out.at.field("template");
  check_pod_template(out, spec.template_());
}

void check_label(field_errors& out, const Job& job, const std::string& name,
                 const std::string& value) {
  const auto& labels = job.spec().template_().metadata().labels();
  const auto found = labels.find(name);
  if (found != labels.end() && found->second == value) return;
  const auto step = out.at.field("spec");
  const auto inner = out.at.field("template");
  const auto meta = out.at.field("metadata");
  const auto list = out.at.field("labels");
  const auto key = out.at.key(name);
  if (found == labels.end())
    out.required({}, "must be '" + value + "'");
  else
    out.invalid({}, found->second, "must be '" + value + "'");
}

// Checks that the labels set by the server are present.
void check_generated_selector(field_errors& out, const Job& job) {
  if (job.spec().manual_selector() || !job.spec().has_selector()) return;
  const auto& meta = job.metadata();
  check_label(out, job, old_job_uid_label, meta.uid());
  check_label(out, job, old_job_name_label, meta.name());
  const auto compiled = label_selector::from(job.spec().selector());
  label_map chosen;
  for (const auto* name : {job_uid_label, old_job_uid_label})
    chosen[name] = meta.uid();
  for (const auto* name : {job_name_label, old_job_name_label})
    chosen[name] = meta.name();
  if (compiled && compiled->matches(chosen)) return;
  const auto step = out.at.field("spec");
  out.invalid_json("selector", encode_json(job.spec().selector(), {}, {}),
                   "`selector` not auto-generated");
}

// Fields of a template that may change before the first pod: scheduling and labels
// (KEP-2926).
void take_directives(core::v1::PodTemplateSpec& into, const core::v1::PodTemplateSpec& from) {
  *into.mutable_metadata()->mutable_labels() = from.metadata().labels();
  *into.mutable_metadata()->mutable_annotations() = from.metadata().annotations();
  auto& spec = *into.mutable_spec();
  *spec.mutable_node_selector() = from.spec().node_selector();
  *spec.mutable_tolerations() = from.spec().tolerations();
  *spec.mutable_scheduling_gates() = from.spec().scheduling_gates();
  if (from.spec().has_affinity())
    *spec.mutable_affinity() = from.spec().affinity();
  else
    spec.clear_affinity();
}

template <class Part>
void check_same(field_errors& out, std::string_view field, const Part& now, const Part& was) {
  if (!same_meaning(now, was))
    out.invalid_json(field, encode_json(now, {}, {}), "field is immutable");
}

void check_completions(field_errors& out, const JobSpec& now, const JobSpec& was) {
  if (now.has_completions() == was.has_completions() && now.completions() == was.completions())
    return;
  if (!is_indexed(now) || !now.has_completions() || !was.has_completions())
    return out.invalid("completions", now.completions(), "field is immutable");
  if (now.completions() != now.parallelism())
    out.invalid("completions", now.completions(),
                "can only be modified in tandem with spec.parallelism");
}

}  // namespace

void check(field_errors& out, const Job& object) {
  check_generated_selector(out, object);
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  check_job_spec(out, spec);
  if (!spec.has_selector()) return out.required("selector");
  {
    const auto inner = out.at.field("selector");
    check_label_selector(out, spec.selector());
  }
  const auto selector = label_selector::from(spec.selector());
  const auto inner = out.at.field("template");
  if (selector) check_selected(out, spec.template_(), *selector);
}

void check_update(field_errors& out, const Job& now, const Job& was) {
  const auto step = out.at.field("spec");
  check_completions(out, now.spec(), was.spec());
  check_same(out, "selector", now.spec().selector(), was.spec().selector());
  auto before = was.spec().template_();
  if (was.spec().suspend() && !was.status().has_start_time())
    take_directives(before, now.spec().template_());
  check_same(out, "template", now.spec().template_(), before);
  if (now.spec().completion_mode() != was.spec().completion_mode())
    out.invalid("completionMode", now.spec().completion_mode(), "field is immutable");
  if (now.spec().managed_by() != was.spec().managed_by())
    out.invalid("managedBy", now.spec().managed_by(), "field is immutable");
  if (now.spec().backoff_limit_per_index() != was.spec().backoff_limit_per_index() ||
      now.spec().has_backoff_limit_per_index() != was.spec().has_backoff_limit_per_index())
    out.invalid("backoffLimitPerIndex", now.spec().backoff_limit_per_index(), "field is immutable");
  check_same(out, "podFailurePolicy", now.spec().pod_failure_policy(),
             was.spec().pod_failure_policy());
  check_same(out, "successPolicy", now.spec().success_policy(), was.spec().success_policy());
}

namespace {

// The API cannot know the existing time zones: only the controller's machine does.
void check_time_zone(field_errors& out, const std::string& zone) {
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+/";
  if (zone.empty())
    return out.invalid("timeZone", zone, "timeZone must be nil or non-empty string");
  if (zone == "Local" || zone == "local" || zone == "LOCAL")
    return out.invalid(
        "timeZone", zone,
        "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones");
  if (zone.find_first_not_of(letters) != std::string::npos || zone.front() == '/' ||
      zone.back() == '/')
    out.invalid("timeZone", zone, "unknown time zone " + zone);
}

}  // namespace

void check(field_errors& out, const CronJob& object) {
  if (object.metadata().name().size() > cron_job_name_bytes) {
    const auto step = out.at.field("metadata");
    out.invalid("name", object.metadata().name(), "must be no more than 52 characters");
  }
  const auto step = out.at.field("spec");
  const auto& spec = object.spec();
  if (spec.schedule().find("TZ") != std::string::npos)
    out.invalid("schedule", spec.schedule(),
                "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  else if (!spec.schedule().empty())
    out.each("schedule", spec.schedule(), check_schedule(spec.schedule()));
  if (spec.has_time_zone()) check_time_zone(out, spec.time_zone());
  const auto job = out.at.field("jobTemplate");
  const auto inner = out.at.field("spec");
  check_job_spec(out, spec.job_template().spec());
  if (spec.job_template().spec().has_selector())
    out.invalid_json("selector", encode_json(spec.job_template().spec().selector(), {}, {}),
                     "`selector` will be auto-generated");
  if (spec.job_template().spec().manual_selector())
    out.unsupported_json("manualSelector", "true",
                         std::initializer_list<std::string_view>{"nil", "false"});
}

}  // namespace troupe::api::validation

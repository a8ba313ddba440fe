// Columns and cells of workloads, autoscalers and disruption budgets.
#include <algorithm>
#include <array>

#include "api/schema/apps_sets.pb.h"
#include "api/schema/autoscaling_v2.pb.h"
#include "api/schema/batch_v1.pb.h"
#include "api/schema/policy_budget.pb.h"
#include "api/selectors/selector.hpp"
#include "api/tables/kind_cells.hpp"
#include "api/values/ascii.hpp"
#include "api/values/quantity.hpp"

namespace troupe::api {

// -- shared ---------------------------------------------------------------------------------------

std::string shown_selector(const meta::v1::LabelSelector& selector) {
  const auto compiled = label_selector::from(selector);
  const auto text = compiled ? compiled->str() : std::string();
  return text.empty() ? std::string(none_text) : text;
}

void short_list::add(std::string_view text) {
  if (++count_ > most_) return;
  if (count_ > 1) text_ += ',';
  text_ += text;
}

std::string short_list::text(std::string_view nothing) const {
  if (count_ == 0) return std::string(nothing);
  if (count_ <= most_) return text_;
  return text_ + " + " + std::to_string(count_ - most_) + " more...";
}

namespace {

using apps::v1::ControllerRevision;
using apps::v1::DaemonSet;
using apps::v1::StatefulSet;
using batch::v1::CronJob;
using batch::v1::Job;
using policy::v1::PodDisruptionBudget;

// -- sets -----------------------------------------------------------------------------------------

constexpr std::array of_daemon_sets = {
    name_column,
    table_column{"Desired", "integer", "How many nodes should have a pod."},
    table_column{"Current", "integer", "How many nodes have one."},
    table_column{"Ready", "integer", "How many nodes have one that is ready."},
    table_column{"Up-to-date", "integer", "How many nodes have one of the newest revision."},
    table_column{"Available", "integer", "How many nodes have one that can be relied on."},
    table_column{"Node Selector", "string", "Labels of the nodes that are to have a pod."},
    age_column,
    containers_column,
    images_column,
    selector_column};

void write_daemon_set(row_cells& into, const body& content) {
  const auto& object = as<DaemonSet>(content);
  const auto& status = object.status();
  const auto& pods = object.spec().template_().spec();
  into.text(object.metadata().name())
      .number(status.desired_number_scheduled())
      .number(status.current_number_scheduled())
      .number(status.number_ready())
      .number(status.updated_number_scheduled())
      .number(status.number_available())
      .text(shown_labels(pods.node_selector()))
      .age(object.metadata())
      .text(container_names(pods))
      .text(container_images(pods))
      .text(shown_selector(object.spec().selector()));
}

constexpr std::array of_stateful_sets = {
    name_column, table_column{"Ready", "string", "Pods that are ready, of those there should be."},
    age_column, containers_column, images_column};

void write_stateful_set(row_cells& into, const body& content) {
  const auto& object = as<StatefulSet>(content);
  const auto& pods = object.spec().template_().spec();
  into.text(object.metadata().name())
      .text(std::to_string(object.status().ready_replicas()) + "/" +
            std::to_string(object.spec().replicas()))
      .age(object.metadata())
      .text(container_names(pods))
      .text(container_images(pods));
}

constexpr std::array of_revisions = {
    name_column, table_column{"Controller", "string", "Whose state it is."},
    table_column{"Revision", "integer", "Which one it is."}, age_column};

// Such as "statefulset.apps/web".
std::string shown_controller(const meta::v1::ObjectMeta& meta) {
  for (const auto& owner : meta.owner_references()) {
    if (!owner.controller()) continue;
    auto text = to_lower(owner.kind());
    const auto slash = owner.api_version().find('/');
    if (slash != std::string::npos) text += "." + owner.api_version().substr(0, slash);
    return text + "/" + owner.name();
  }
  return std::string(none_text);
}

void write_revision(row_cells& into, const body& content) {
  const auto& object = as<ControllerRevision>(content);
  into.text(object.metadata().name())
      .text(shown_controller(object.metadata()))
      .number(object.revision())
      .age(object.metadata());
}

// -- jobs -----------------------------------------------------------------------------------------

constexpr std::array of_jobs = {
    name_column,
    table_column{"Status", "string", "Whether it runs, is done or has failed."},
    table_column{"Completions", "string", "Pods that succeeded, of those that should."},
    table_column{"Duration", "string", "How long it has run."},
    age_column,
    containers_column,
    images_column,
    selector_column};

bool holds(const Job& job, std::string_view type) {
  for (const auto& condition : job.status().conditions())
    if (condition.type() == type) return condition.status() == "True";
  return false;
}

std::string_view status_of(const Job& job) {
  if (holds(job, "Complete")) return "Complete";
  if (holds(job, "Failed")) return "Failed";
  if (job.metadata().has_deletion_timestamp()) return "Terminating";
  if (holds(job, "Suspended")) return "Suspended";
  if (holds(job, "FailureTarget")) return "FailureTarget";
  if (holds(job, "SuccessCriteriaMet")) return "SuccessCriteriaMet";
  return "Running";
}

std::string completions_of(const Job& job) {
  const auto done = std::to_string(job.status().succeeded()) + "/";
  if (job.spec().has_completions()) return done + std::to_string(job.spec().completions());
  const int parallelism = job.spec().has_parallelism() ? job.spec().parallelism() : 0;
  return parallelism > 1 ? done + "1 of " + std::to_string(parallelism) : done + "1";
}

void write_job(row_cells& into, const body& content) {
  const auto& object = as<Job>(content);
  const auto& status = object.status();
  const auto& pods = object.spec().template_().spec();
  std::string duration;
  if (status.has_start_time()) {
    const auto start = status.start_time().seconds();
    duration = status.has_completion_time()
                   ? human_duration(status.completion_time().seconds() - start)
                   : into.age_of(start);
  }
  into.text(object.metadata().name())
      .text(status_of(object))
      .text(completions_of(object))
      .text(duration)
      .age(object.metadata())
      .text(container_names(pods))
      .text(container_images(pods))
      .text(shown_selector(object.spec().selector()));
}

constexpr std::array of_cron_jobs = {
    name_column,
    table_column{"Schedule", "string", "When jobs are made, as five fields of cron."},
    table_column{"Timezone", "string", "The time zone of the schedule."},
    table_column{"Suspend", "boolean", "Whether no new jobs are made."},
    table_column{"Active", "integer", "How many jobs run."},
    table_column{"Last Schedule", "string", "Time since a job was last made."},
    age_column,
    containers_column,
    images_column,
    selector_column};

void write_cron_job(row_cells& into, const body& content) {
  const auto& object = as<CronJob>(content);
  const auto& spec = object.spec();
  const auto& pods = spec.job_template().spec().template_().spec();
  into.text(object.metadata().name())
      .text(spec.schedule())
      .text_or(spec.time_zone(), none_text)
      .text(spec.suspend() ? "True" : "False")
      .number(object.status().active_size())
      .text(object.status().has_last_schedule_time()
                ? into.age_of(object.status().last_schedule_time().seconds())
                : std::string(none_text))
      .age(object.metadata())
      .text(container_names(pods))
      .text(container_images(pods))
      .text(spec.job_template().spec().has_selector()
                ? shown_selector(spec.job_template().spec().selector())
                : std::string(none_text));
}

// -- autoscalers ----------------------------------------------------------------------------------

constexpr std::array of_autoscalers = {
    name_column,
    table_column{"Reference", "string", "What is scaled."},
    table_column{"Targets", "string", "Measured and desired values."},
    table_column{"MinPods", "string", "The least number of pods."},
    table_column{"MaxPods", "string", "The greatest number of pods."},
    table_column{"Replicas", "string", "How many pods there are."},
    age_column};

using autoscaling::v2::HorizontalPodAutoscaler;
using autoscaling::v2::MetricSpec;
using autoscaling::v2::MetricStatus;
using autoscaling::v2::MetricTarget;
using autoscaling::v2::MetricValueStatus;

constexpr std::string_view unknown = "<unknown>";

std::string percent(int value) {
  return std::to_string(value) + "%";
}

// The value, or the average; "<unknown>" if it was not measured.
std::string of_values(const MetricTarget& target, const MetricValueStatus* current) {
  const bool average = target.has_average_value();
  const auto& wanted = average ? target.average_value().string() : target.value().string();
  std::string is(unknown);
  if (current != nullptr) {
    if (average && current->has_average_value()) is = current->average_value().string();
    if (!average && current->has_value()) is = current->value().string();
  }
  return is + "/" + wanted + (average ? " (avg)" : "");
}

std::string of_resource(const std::string& name, const MetricTarget& target,
                        const MetricValueStatus* current) {
  if (target.has_average_value()) {
    const bool known = current != nullptr && current->has_average_value();
    return name + ": " + (known ? current->average_value().string() : std::string(unknown)) + "/" +
           target.average_value().string();
  }
  const bool known = current != nullptr && current->has_average_utilization();
  return name + ": " + (known ? percent(current->average_utilization()) : std::string(unknown)) +
         "/" +
         (target.has_average_utilization() ? percent(target.average_utilization())
                                           : std::string("<auto>"));
}

std::string shown_metric(const MetricSpec& metric, const MetricStatus* status) {
  const auto& type = metric.type();
  if (type == "External")
    return of_values(metric.external().target(),
                     status != nullptr ? &status->external().current() : nullptr);
  if (type == "Pods")
    return (status != nullptr && status->pods().current().has_average_value()
                ? status->pods().current().average_value().string()
                : std::string(unknown)) +
           "/" + metric.pods().target().average_value().string();
  if (type == "Object")
    return of_values(metric.object().target(),
                     status != nullptr ? &status->object().current() : nullptr);
  if (type == "Resource")
    return of_resource(metric.resource().name(), metric.resource().target(),
                       status != nullptr ? &status->resource().current() : nullptr);
  if (type == "ContainerResource")
    return of_resource(metric.container_resource().name(), metric.container_resource().target(),
                       status != nullptr ? &status->container_resource().current() : nullptr);
  return "<unknown type>";
}

std::string shown_metrics(const HorizontalPodAutoscaler& object) {
  constexpr int most = 2;
  const auto& metrics = object.spec().metrics();
  if (metrics.empty()) return std::string(none_text);
  const auto& current = object.status().current_metrics();
  std::string text;
  for (int i = 0; i < std::min(metrics.size(), most); ++i) {
    const MetricStatus* status =
        i < current.size() && current[i].type() == metrics[i].type() ? &current[i] : nullptr;
    text += (i > 0 ? ", " : "") + shown_metric(metrics[i], status);
  }
  if (metrics.size() > most) text += " + " + std::to_string(metrics.size() - most) + " more...";
  return text;
}

void write_autoscaler(row_cells& into, const body& content) {
  const auto& object = as<HorizontalPodAutoscaler>(content);
  const auto& spec = object.spec();
  into.text(object.metadata().name())
      .text(spec.scale_target_ref().kind() + "/" + spec.scale_target_ref().name())
      .text(shown_metrics(object))
      .text(spec.has_min_replicas() ? std::to_string(spec.min_replicas()) : std::string(unset))
      .text(std::to_string(spec.max_replicas()))
      .text(std::to_string(object.status().current_replicas()))
      .age(object.metadata());
}

// -- budgets --------------------------------------------------------------------------------------

constexpr std::array of_budgets = {
    name_column, table_column{"Min Available", "string", "How many pods must be there."},
    table_column{"Max Unavailable", "string", "How many pods may be missing."},
    table_column{"Allowed Disruptions", "integer", "How many pods may be evicted now."},
    age_column};

std::string shown_share(bool present, const intstr::IntOrString& value) {
  if (!present) return "N/A";
  return value.type() == 0 ? std::to_string(value.int_val()) : value.str_val();
}

void write_budget(row_cells& into, const body& content) {
  const auto& object = as<PodDisruptionBudget>(content);
  const auto& spec = object.spec();
  into.text(object.metadata().name())
      .text(shown_share(spec.has_min_available(), spec.min_available()))
      .text(shown_share(spec.has_max_unavailable(), spec.max_unavailable()))
      .number(object.status().disruptions_allowed())
      .age(object.metadata());
}

}  // namespace

const kind_cells daemon_set_cells = {of_daemon_sets, &write_daemon_set};
const kind_cells stateful_set_cells = {of_stateful_sets, &write_stateful_set};
const kind_cells revision_cells = {of_revisions, &write_revision};
const kind_cells job_cells = {of_jobs, &write_job};
const kind_cells cron_job_cells = {of_cron_jobs, &write_cron_job};
const kind_cells autoscaler_cells = {of_autoscalers, &write_autoscaler};
const kind_cells budget_cells = {of_budgets, &write_budget};

}  // namespace troupe::api

// The rows of pods, workloads, autoscalers and disruption budgets.
#include "api/conversion/shapes.hpp"
#include "api/kinds/adapters.hpp"
#include "api/object/object.hpp"
#include "api/schema/autoscaling_hpa_v1.pb.h"
#include "api/schema/autoscaling_v1.pb.h"
#include "api/schema/policy_budget.pb.h"
#include "api/storage/version_shapes.hpp"
#include "api/strategy/new_pod.hpp"

namespace troupe::api::kinds {
namespace {

using namespace core::v1;
using apps::v1::ControllerRevision;
using apps::v1::DaemonSet;
using apps::v1::Deployment;
using apps::v1::ReplicaSet;
using apps::v1::StatefulSet;
using autoscaling::v2::HorizontalPodAutoscaler;
using batch::v1::CronJob;
using batch::v1::Job;
using policy::v1::PodDisruptionBudget;

template <class T>
void check_workload_as(field_errors& out, const body& content) {
  validation::check_workload(out, as<T>(content));
}

constexpr kind_part of_pods[] = {
    {"attach", "", "v1", "PodAttachOptions", create_and_get},
    {"binding", "", "v1", "Binding", create_only},
    {"ephemeralcontainers", "", "v1", "Pod", read_and_write},
    {"eviction", "policy", "v1", "Eviction", create_only},
    {"exec", "", "v1", "PodExecOptions", create_and_get},
    {"log", "", "v1", "Pod", get_only},
    {"portforward", "", "v1", "PodPortForwardOptions", create_and_get},
    {"proxy", "", "v1", "PodProxyOptions", of_any_method, true},
    {"resize", "", "v1", "Pod", read_and_write},
};

kind_row pod_row() {
  kind_row row;
  row.parts = of_pods;
  row.deletion_shows_object = true;
  row.complete = &complete_as<Pod>;
  row.begin = [](const kind_info&, body& content) { initialize_pod(as<Pod>(content)); };
  row.plan_delete = [](const kind_info& kind, const body& stored,
                       const meta::v1::DeleteOptions& options, std::int64_t now_seconds) {
    return plan_delete(kind, as<Pod>(stored), options, now_seconds);
  };
  row.check = &check_as<Pod>;
  row.check_create = [](field_errors& out, const body& content) {
    validation::check_create(out, as<Pod>(content));
  };
  row.check_update = [](field_errors& out, const body& now, const body& was) {
    validation::check_pod_update(out, as<Pod>(now), as<Pod>(was));
  };
  row.columns = pod_columns;
  row.cells = &pod_cells;
  row.row_conditions = &pod_row_conditions;
  row.node = [](const body& content) -> std::string_view {
    return as<Pod>(content).spec().node_name();
  };
  row.node_field = "spec.nodeName";
  return row;
}

kind_row template_row() {
  kind_row row;
  row.deletion_shows_object = true;
  row.complete = &complete_as<PodTemplate>;
  row.check = &check_as<PodTemplate>;
  row.columns = template_columns;
  row.cells = &template_cells;
  return row;
}

template <class T>
kind_row replicas_row() {
  kind_row row;
  row.complete = &complete_as<T>;
  row.check = &check_workload_as<T>;
  row.columns = controller_columns;
  row.cells = &controller_cells<T>;
  return row;
}

kind_row deployment_row() {
  kind_row row;
  row.complete = &complete_as<Deployment>;
  row.same_desired_state = [](const kind_info&, const body& now, const body& was) {
    return same_desired_state(as<Deployment>(now), as<Deployment>(was));
  };
  row.status_keeps_labels = true;
  row.check = &check_workload_as<Deployment>;
  row.columns = deployment_columns;
  row.cells = &deployment_cells;
  return row;
}

kind_row stateful_set_row() {
  auto row = checked<StatefulSet>(stateful_set_cells);
  row.complete = &complete_as<StatefulSet>;
  row.check_update = &check_update_as<StatefulSet>;
  return row;
}

kind_row daemon_set_row() {
  auto row = checked<DaemonSet>(daemon_set_cells);
  row.complete = &complete_as<DaemonSet>;
  return row;
}

kind_row job_row() {
  auto row = checked<Job>(job_cells);
  row.complete = &complete_as<Job>;
  row.begin = &begin_as<Job>;
  row.check_update = &check_update_as<Job>;
  return row;
}

kind_row cron_job_row() {
  auto row = checked<CronJob>(cron_job_cells);
  row.complete = &complete_as<CronJob>;
  return row;
}

kind_row autoscaler_row() {
  auto row = checked<HorizontalPodAutoscaler>(autoscaler_cells);
  row.complete = &complete_as<HorizontalPodAutoscaler>;
  return row;
}

// Uses the columns of the home's objects.
kind_row old_autoscaler_row() {
  auto row = with_cells(autoscaler_cells);
  row.shape = &autoscaler_shape;
  row.cells = [](row_cells& cells, const body& content) {
    HorizontalPodAutoscaler home;
    *home.mutable_metadata() = meta_of(content);
    autoscaler_shape.take(content, home);
    autoscaler_cells.write(cells, home);
  };
  return row;
}

kind_row budget_row() {
  auto row = checked<PodDisruptionBudget>(budget_cells);
  row.earlier_form = &budget_v1beta1_shape;
  return row;
}

kind_row scale_row() {
  kind_row row;
  row.columns = scale_columns;
  row.cells = &scale_cells;
  return row;
}

}  // namespace

void add_workload_kinds(row_table& into) {
  add<Pod>(into, pod_row());
  add<PodTemplate>(into, template_row());
  add<ReplicationController>(into, replicas_row<ReplicationController>());
  add<ReplicaSet>(into, replicas_row<ReplicaSet>());
  add<Deployment>(into, deployment_row());
  add<DaemonSet>(into, daemon_set_row());
  add<StatefulSet>(into, stateful_set_row());
  add<ControllerRevision>(into, checked<ControllerRevision>(revision_cells));
  add<Job>(into, job_row());
  add<CronJob>(into, cron_job_row());
  add<HorizontalPodAutoscaler>(into, autoscaler_row());
  add<autoscaling::v1::HorizontalPodAutoscaler>(into, old_autoscaler_row());
  add<PodDisruptionBudget>(into, budget_row());
  add<autoscaling::v1::Scale>(into, scale_row());
}

}  // namespace troupe::api::kinds

// The rows of versions that Kubernetes has removed (removed_versions.hpp).
#include "api/conversion/removed_shapes.hpp"
#include "api/kinds/adapters.hpp"
#include "api/object/object.hpp"
#include "api/removed/batch_v1beta1.pb.h"
#include "api/removed/discovery_v1beta1.pb.h"
#include "api/removed/policy_v1beta1.pb.h"

namespace troupe::api::kinds {
namespace {

// Uses the columns of the home's objects.
template <class Home, const kind_shape* shape, const kind_cells* columns>
kind_row shape_row() {
  auto row = with_cells(*columns);
  row.shape = shape;
  row.cells = [](row_cells& cells, const body& content) {
    Home home;
    *home.mutable_metadata() = meta_of(content);
    shape->take(content, home);
    columns->write(cells, home);
  };
  return row;
}

}  // namespace

void add_removed_kinds(row_table& into) {
  add<batch::v1beta1::CronJob>(
      into, shape_row<batch::v1::CronJob, &beta_cron_job_shape, &cron_job_cells>());
  add<discovery::v1beta1::EndpointSlice>(
      into, shape_row<discovery::v1::EndpointSlice, &beta_slice_shape, &slice_cells>());
  add<policy::v1beta1::PodDisruptionBudget>(
      into, shape_row<policy::v1::PodDisruptionBudget, &beta_budget_shape, &budget_cells>());
}

}  // namespace troupe::api::kinds

// The rows of services, ingresses, network policies and addresses.
#include "api/kinds/adapters.hpp"
#include "api/storage/version_shapes.hpp"

namespace troupe::api::kinds {
namespace {

using namespace core::v1;
using discovery::v1::EndpointSlice;
using namespace networking::v1;

constexpr kind_part of_services[] = {
    {"proxy", "", "v1", "ServiceProxyOptions", of_any_method, true}};

kind_row service_row() {
  kind_row row;
  row.parts = of_services;
  row.name = DNS_1035_LABEL;
  row.deletion_shows_object = true;
  row.complete = &complete_as<Service>;
  row.keep = [](const kind_info&, body& now, const body& was) {
    keep_allocations(as<Service>(now), as<Service>(was));
    drop_leftovers(as<Service>(now), as<Service>(was));
  };
  row.check = [](field_errors& out, const body& content) {
    validation::check_service(out, as<Service>(content));
  };
  row.check_create = [](field_errors& out, const body& content) {
    validation::check_service_create(out, as<Service>(content));
  };
  row.check_update = [](field_errors& out, const body& now, const body& was) {
    validation::check_service_update(out, as<Service>(now), as<Service>(was));
  };
  row.columns = service_columns;
  row.cells = &service_cells;
  return row;
}

kind_row endpoints_row() {
  kind_row row;
  row.created_by_update = true;
  row.check = [](field_errors& out, const body& content) {
    validation::check_endpoints(out, as<Endpoints>(content));
  };
  row.columns = endpoints_columns;
  row.cells = &endpoints_cells;
  return row;
}

kind_row slice_row() {
  auto row = checked<EndpointSlice>(slice_cells);
  row.earlier_form = &endpoint_slice_v1beta1_shape;
  return row;
}

kind_row ingress_row() {
  auto row = checked<Ingress>(ingress_cells);
  row.earlier_form = &ingress_v1beta1_shape;
  row.check_create = &check_create_as<Ingress>;
  return row;
}

kind_row network_policy_row() {
  auto row = checked<NetworkPolicy>(network_policy_cells);
  row.complete = &complete_as<NetworkPolicy>;
  row.warning = not_enforced;
  return row;
}

kind_row service_range_row() {
  auto row = checked<ServiceCIDR>(service_range_cells);
  row.check_update = &check_update_as<ServiceCIDR>;
  return row;
}

kind_row address_row() {
  auto row = checked<IPAddress>(address_cells);
  row.name = IP;
  return row;
}

}  // namespace

void add_network_kinds(row_table& into) {
  add<Service>(into, service_row());
  add<Endpoints>(into, endpoints_row());
  add<EndpointSlice>(into, slice_row());
  add<Ingress>(into, ingress_row());
  add<IngressClass>(into, checked<IngressClass>(ingress_class_cells));
  add<NetworkPolicy>(into, network_policy_row());
  add<ServiceCIDR>(into, service_range_row());
  add<IPAddress>(into, address_row());
}

}  // namespace troupe::api::kinds

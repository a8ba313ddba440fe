// The row of CustomResourceDefinitions.
#include "api/definitions/rules.hpp"
#include "api/kinds/adapters.hpp"
#include "api/values/timestamp.hpp"

namespace troupe::api::kinds {
namespace {

using apiextensions::v1::CustomResourceDefinition;

constexpr table_column columns[] = {
    {"Name", "string", "Name of the definition: <plural>.<group>."},
    {"Created At", "date", "When it was created."},
};

void cells(row_cells& into, const body& content) {
  const auto& meta = as<CustomResourceDefinition>(content).metadata();
  into.text(meta.name()).text(format_time(meta.creation_timestamp().seconds()));
}

}  // namespace

void add_definition_kinds(row_table& into) {
  kind_row row;
  row.columns = columns;
  row.cells = &cells;
  row.status_keeps_labels = true;
  row.updates_a_revision = true;
  row.deletion_shows_object = true;
  row.complete = [](body& content) {
    definitions::complete(as<CustomResourceDefinition>(content));
  };
  row.begin = [](const kind_info&, body& content) {
    definitions::begin(as<CustomResourceDefinition>(content));
  };
  row.keep = [](const kind_info&, body& now, const body&) {
    definitions::keep(as<CustomResourceDefinition>(now));
  };
  row.plan_delete = [](const kind_info&, const body& stored, const meta::v1::DeleteOptions&,
                       std::int64_t now_seconds) {
    return definitions::plan_delete(as<CustomResourceDefinition>(stored), now_seconds);
  };
  row.check = [](field_errors& out, const body& content) {
    definitions::check(out, as<CustomResourceDefinition>(content));
  };
  row.check_create = [](field_errors& out, const body& content) {
    definitions::check_create(out, as<CustomResourceDefinition>(content));
  };
  row.check_update = [](field_errors& out, const body& now, const body& was) {
    definitions::check_update(out, as<CustomResourceDefinition>(now),
                              as<CustomResourceDefinition>(was));
  };
  row.check_status = [](field_errors& out, const body& now, const body&) {
    definitions::check_status(out, as<CustomResourceDefinition>(now));
  };
  add<CustomResourceDefinition>(into, row);
}

}  // namespace troupe::api::kinds

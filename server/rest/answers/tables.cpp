#include "server/rest/answers/tables.hpp"

#include <chrono>

namespace troupe::server {
namespace {

api::row_object row_object_of(included rows) {
  switch (rows) {
    case included::object:
      return api::row_object::object;
    case included::nothing:
      return api::row_object::none;
    case included::metadata:
      break;
  }
  return api::row_object::metadata;
}

std::int64_t now_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

}  // namespace

api::table_options table_form(const list_page& page, const table_options& options) {
  return {.api_version = options.v1 ? "meta.k8s.io/v1" : "meta.k8s.io/v1beta1",
          .rows = row_object_of(options.rows),
          .columns = options.columns,
          .now_seconds = now_seconds(),
          .revision = page.revision,
          .continue_token = page.continue_token,
          .remaining = page.remaining};
}

std::string table_json(const list_page& page, const table_options& options) {
  std::string out;
  api::append_table(out, *page.kind, page.items, table_form(page, options));
  return out;
}

}  // namespace troupe::server

// Objects as rows of a table, for `kubectl get`.
#pragma once

#include <string>

#include "api/tables/table.hpp"
#include "server/rest/answers/answers.hpp"

namespace troupe::server {

struct table_options {
  bool v1 = true;
  included rows = included::metadata;
  bool columns = true;
};

// A table of these objects; it has views into the page.
api::table_options table_form(const list_page& page, const table_options& options);
std::string table_json(const list_page& page, const table_options& options);

}  // namespace troupe::server

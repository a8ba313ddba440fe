// Objects as the rows of a table, as `kubectl get` shows them.
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

// Writes a table of these objects. It shows parts of the page.
api::table_options table_form(const list_page& page, const table_options& options);
std::string table_json(const list_page& page, const table_options& options);

}  // namespace troupe::server

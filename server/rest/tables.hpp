// Objects as the rows of a table, as `kubectl get` shows them.
#pragma once

#include <string>

#include "server/rest/answers.hpp"

namespace troupe::server {

struct table_options {
  bool v1 = true;
  included rows = included::metadata;
  bool columns = true;
};

std::string table_json(const list_page& page, const table_options& options);

}  // namespace troupe::server

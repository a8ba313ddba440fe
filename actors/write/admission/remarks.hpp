// Warnings and audit annotations that admission adds to a write.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace troupe::actors::admission {

struct remarks {
  std::vector<std::string> warnings = {};               // to the client
  std::map<std::string, std::string> annotations = {};  // for the audit log
};

}  // namespace troupe::actors::admission

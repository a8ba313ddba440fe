// Which waiting pull may begin: a registry that never ends a pull must not keep the images of other
// namespaces from the node. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace troupe::actors {

class pull_turns {
 public:
  // Whether another pull for a pod of the namespace may run.
  bool is_free(const std::string& ns) const;
  void take(const std::string& ns);
  void release(const std::string& ns);

 private:
  std::map<std::string, std::size_t> running_;  // by namespace
  std::size_t all_ = 0;
};

}  // namespace troupe::actors

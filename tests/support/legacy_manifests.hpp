// The manifests that Kubernetes v0.2 and v0.6 shipped, from the folder beside the project.
#pragma once

#include <string>
#include <vector>

namespace troupe::test {

struct legacy_manifest {
  std::string name;                  // of the file
  std::string kind;                  // of its objects, in v1beta1
  std::vector<std::string> objects;  // texts; the items of a list
};

// None, with a warning, if the folder is absent.
std::vector<legacy_manifest> legacy_manifests();

}  // namespace troupe::test

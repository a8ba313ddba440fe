#include "api/apply/scale_managers.hpp"

#include <algorithm>

#include "api/apply/managers.hpp"
#include "api/schema/autoscaling_v1.pb.h"
#include "api/scheme.hpp"

namespace troupe::api {
namespace {

field_set set_of(const std::vector<std::string>& path) {
  field_steps steps;
  for (const auto& name : path)
    steps.push_back({field_step::type::field, name});
  field_set out;
  out.insert(steps);
  return out;
}

const std::vector<std::string> path_in_scale{"spec", "replicas"};

// Whether both entries are of the same manager; the API versions differ.
bool are_same(const manager& a, const manager& b) {
  return a.name == b.name && a.operation == b.operation && a.subresource == b.subresource;
}

}  // namespace

managed_fields scale_managers(const managed_fields& of_object,
                              const std::vector<std::string>& path) {
  const auto replicas = set_of(path);
  auto all = read_managers(of_object).value_or(managers{});
  std::erase_if(all, [&](const manager& each) { return intersect(each.fields, replicas).empty(); });
  for (auto& each : all) {
    each.api_version = kind_of<autoscaling::v1::Scale>().api_version();
    each.fields = set_of(path_in_scale);
  }
  return written(std::move(all));
}

managed_fields object_managers(const managed_fields& of_object, const managed_fields& of_scale,
                               const kind_info& kind, const std::vector<std::string>& path) {
  const auto replicas = set_of(path);
  auto all = read_managers(of_object).value_or(managers{});
  auto scaling = read_managers(of_scale).value_or(managers{});
  std::erase_if(scaling, [](const manager& each) {
    return intersect(each.fields, set_of(path_in_scale)).empty();
  });
  for (auto& each : all) {
    if (intersect(each.fields, replicas).empty()) continue;
    const auto found = std::find_if(scaling.begin(), scaling.end(),
                                    [&](const manager& other) { return are_same(each, other); });
    if (found == scaling.end()) {
      each.fields = subtract(each.fields, replicas);
    } else {
      each.seconds = found->seconds;
      scaling.erase(found);
    }
  }
  for (auto& each : scaling) {
    each.api_version = kind.api_version();
    auto& entry = entry_of(all, each.without_fields());
    entry.fields = unite(std::move(entry.fields), replicas);
    entry.seconds = each.seconds;
  }
  return written(std::move(all));
}

}  // namespace troupe::api

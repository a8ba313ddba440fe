#include "api/apply/managers.hpp"

#include <algorithm>
#include <tuple>

#include "api/schema/meta_object.pb.h"

namespace troupe::api {
namespace {

constexpr const char* notation = "FieldsV1";

}  // namespace

// Returns nullopt if an entry is invalid.
std::optional<managers> read_managers(const managed_fields& entries) {
  managers all;
  for (const auto& each : entries) {
    if (each.operation() != applies && each.operation() != updates) return std::nullopt;
    auto fields = read_fields(each.fields_v1().raw().empty() ? "{}" : each.fields_v1().raw());
    if (!fields) return std::nullopt;
    all.push_back({.name = each.manager(),
                   .operation = each.operation(),
                   .api_version = each.api_version(),
                   .subresource = each.subresource(),
                   .seconds = each.time().seconds(),
                   .fields = std::move(*fields)});
  }
  return all;
}

managed_fields written(managers all) {
  std::erase_if(all, [](const auto& each) { return each.fields.empty(); });
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::tie(a.operation, a.seconds, a.name, a.api_version, a.subresource) <
           std::tie(b.operation, b.seconds, b.name, b.api_version, b.subresource);
  });
  managed_fields out;
  for (const auto& each : all) {
    auto& entry = *out.Add();
    entry.set_manager(each.name);
    entry.set_operation(each.operation);
    entry.set_api_version(each.api_version);
    if (each.seconds != 0) entry.mutable_time()->set_seconds(each.seconds);
    entry.set_fields_type(notation);
    entry.mutable_fields_v1()->set_raw(write_fields(each.fields));
    if (!each.subresource.empty()) entry.set_subresource(each.subresource);
  }
  return out;
}

manager& entry_of(managers& all, const manager& wanted) {
  for (auto& each : all)
    if (each.is(wanted)) return each;
  all.push_back(wanted);
  return all.back();
}

}  // namespace troupe::api

#include "actors/core/finalizers.hpp"

#include <algorithm>

#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

using api::meta::v1::ObjectMeta;

bool has_finalizer(const ObjectMeta& object, std::string_view finalizer) {
  const auto& all = object.finalizers();
  return std::find(all.begin(), all.end(), finalizer) != all.end();
}

bool has_pending_finalizer(const ObjectMeta& object, std::string_view finalizer) {
  return object.has_deletion_timestamp() && has_finalizer(object, finalizer);
}

void set_finalizer(ObjectMeta& object, std::string_view finalizer, bool present) {
  if (finalizer.empty()) return;
  auto& all = *object.mutable_finalizers();
  if (!present)
    all.erase(std::remove(all.begin(), all.end(), finalizer), all.end());
  else if (!has_finalizer(object, finalizer))
    *all.Add() = finalizer;
}

std::unique_ptr<api::body> without_finalizer(const api::object& object,
                                             std::string_view finalizer) {
  auto copy = object.copy();
  set_finalizer(api::meta_of(*copy), finalizer, false);
  return copy;
}

}  // namespace troupe::actors

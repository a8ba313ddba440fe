// The finalizers of an object. Pure functions.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/object/object.hpp"

namespace troupe::actors {

bool has_finalizer(const api::meta::v1::ObjectMeta& object, std::string_view finalizer);
// Whether the object is being deleted and still has the finalizer.
bool has_pending_finalizer(const api::meta::v1::ObjectMeta& object, std::string_view finalizer);
// Adds or removes the finalizer; does nothing if its name is empty.
void set_finalizer(api::meta::v1::ObjectMeta& object, std::string_view finalizer, bool present);
// A copy without the finalizer.
std::unique_ptr<api::body> without_finalizer(const api::object& object, std::string_view finalizer);

}  // namespace troupe::actors

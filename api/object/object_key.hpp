// The key of an object in the store, from its kind, namespace and name.
#pragma once

#include <string>

#include "api/object/object.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::api {

inline std::string key_of(const object& of) {
  return of.kind().key(of.meta().namespace_(), of.meta().name());
}

}  // namespace troupe::api

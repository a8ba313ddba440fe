// Kinds that show the objects of another kind (kind_row.hpp): events of events.k8s.io/v1, which
// are those of v1, and autoscalers of autoscaling/v1, which are those of autoscaling/v2. And
// custom kinds, of which each version shows the objects of the one that is stored.
#pragma once

#include <memory>

#include "api/kind.hpp"
#include "api/kind_row.hpp"
#include "api/object/object.hpp"

namespace troupe::api {

extern const kind_shape event_shape;
extern const kind_shape autoscaler_shape;

// Whether an object may have to be made for who reads it as one of `kind`.
bool made_for_readers(const kind_info& kind);

// The object as one of `kind`: itself where it is of that kind, or where that is no shape of it.
object_ptr shown_as(const kind_info& kind, const object_ptr& object);

// What was written as `kind`, as a body of its home. `was` is the object that it replaces, or null.
std::unique_ptr<body> taken_home(const kind_info& kind, std::unique_ptr<body> written,
                                 const body* was);

}  // namespace troupe::api

// Kinds that present the objects of another kind (kind_row.hpp): events of events.k8s.io/v1 (those
// of v1) and autoscalers of autoscaling/v1 (those of autoscaling/v2). And custom kinds, where each
// version presents the objects of the storage version.
#pragma once

#include <memory>

#include "api/kind.hpp"
#include "api/kind_row.hpp"
#include "api/object/object.hpp"

namespace troupe::api {

extern const kind_shape event_shape;
extern const kind_shape autoscaler_shape;

// Whether reading an object as `kind` may need a conversion.
bool is_converted_on_read(const kind_info& kind);

// The object as one of `kind`: itself if it is of that kind, or `kind` is not a shape of its kind.
object_ptr convert_from_home(const kind_info& kind, const object_ptr& object);

// Converts a body written as `kind` to its home kind. `was`: the object that it replaces, or null.
std::unique_ptr<body> convert_to_home(const kind_info& kind, std::unique_ptr<body> written,
                                      const body* was);

}  // namespace troupe::api

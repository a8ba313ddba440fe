// Restores the fields that a narrower version of an object cannot express. A client got the object
// in that version and sent it back: parts that it left unchanged are taken from the original
// object, with all fields that the version lacks; changed parts are taken as sent.
#pragma once

#include "api/fwd.hpp"

namespace troupe::api {

// All of one type. `original` is the object; `shown` is its part that the narrower version
// expresses; `now` was sent by the client and becomes the result. List elements with a merge key
// are matched by it; elements of `original` that are not in `shown` are kept, at the end.
void carry_over(body& now, const body& shown, const body& original);

}  // namespace troupe::api

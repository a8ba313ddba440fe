// Brings back what a narrower form could not say. An object was shown in that form and came back
// from it, perhaps changed: what is still as it was shown is taken from the object itself, with all
// that the form left out; what was changed counts as it came.
#pragma once

#include "api/fwd.hpp"

namespace troupe::api {

// All of one type. `original` is the object; `shown` is what the narrower form kept of it; `now` is
// what came back, and becomes the result. Elements of lists that have a merge key are told apart by
// it; elements of `original` that were never shown are kept, behind the others.
void carry_over(body& now, const body& shown, const body& original);

}  // namespace troupe::api

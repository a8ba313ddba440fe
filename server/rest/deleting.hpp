// DELETE of one object and of a collection.
#pragma once

#include "server/rest/change.hpp"

namespace troupe::server {

void delete_object(const call_ptr& what);
// Each object by a transaction of its own, some of them at a time. The answer is a list of what was
// deleted or marked; what others deleted meanwhile is passed over, any other failure is the answer.
void delete_collection(const call_ptr& what);

}  // namespace troupe::server

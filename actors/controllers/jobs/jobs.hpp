// The controller of Jobs.
#pragma once

#include "actors/controllers/kit/controller_type.hpp"

namespace troupe::actors::jobs {

controller_type controller();

}  // namespace troupe::actors::jobs

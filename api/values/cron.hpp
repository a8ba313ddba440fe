// The five fields of cron that say when something happens: "*/5 9-17 * * mon-fri", or a word for
// them such as "@hourly", or "@every 90m". The syntax is that of upstream's library (robfig/cron,
// ParseStandard).
#pragma once

#include <string_view>

#include "api/values/syntax.hpp"

namespace troupe::api {

// What is wrong with a schedule; empty: nothing.
complaints check_schedule(std::string_view s);

}  // namespace troupe::api

// Marks a test as skipped because it cannot run on this machine: the run lists it, with the reason,
// at its end, and tools/test again after all programs.
#pragma once

#include <string>

namespace troupe::test {

// Skips the running test, which should then return; earlier checks still count.
void skip(const std::string& reason);

}  // namespace troupe::test

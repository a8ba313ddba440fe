// What a test says that cannot be tried on this machine: the run names it, with the reason, at its
// end, and tools/test once more after all programs.
#pragma once

#include <string>

namespace troupe::test {

// Of the test that is running. It should return then; what it has checked before still counts.
void skip(const std::string& reason);

}  // namespace troupe::test

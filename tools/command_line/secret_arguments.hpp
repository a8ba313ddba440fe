// Keeps secrets out of process lists: every user can read command lines (/proc/PID/cmdline), and
// the same user can read environments.
#pragma once

#include <string>
#include <vector>

namespace troupe::tools {

// Returns a copy of the arguments. Overwrites the values of --token and --certificate-key in the
// original, and overwrites and unsets the variable TROUPE_TOKEN. Call it before anything else.
std::vector<std::string> take_secrets(int argc, char** argv);

// The value of TROUPE_TOKEN; empty if it was not set.
const std::string& token_of_environment();

}  // namespace troupe::tools

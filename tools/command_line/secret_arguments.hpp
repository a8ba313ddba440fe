// Keeps what is secret out of the lists of processes: command lines are there for everybody to
// read (/proc/PID/cmdline), environments for the same user.
#pragma once

#include <string>
#include <vector>

namespace troupe::tools {

// A copy of the arguments; in the original the value of --token is overwritten, and so is the
// variable TROUPE_TOKEN, which is taken out of the environment. To be called first of all.
std::vector<std::string> take_secrets(int argc, char** argv);

// What TROUPE_TOKEN held; empty where it was not set.
const std::string& token_of_environment();

}  // namespace troupe::tools

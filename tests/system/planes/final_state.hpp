// The end of a test of several control planes: waits for the final state, and collects what the
// history checker compares.
#pragma once

#include <chrono>
#include <string>

#include "system/planes/history_checker.hpp"
#include "system/planes/plane_cluster.hpp"
#include "system/planes/plane_load.hpp"

namespace troupe::test {

// Bounds only a test that hangs.
inline constexpr std::chrono::milliseconds settle_limit{120'000};

// Stops the clients and returns their responses. If all processes are well, it waits for the final
// state before, and checks that control planes and etcd have the same objects.
evidence collect(plane_cluster& cluster, plane_load& load, bool are_well);

// The end of all logs, for the test's output: the files are deleted after the test.
std::string describe(plane_cluster& cluster);

}  // namespace troupe::test

// Three control planes over a model of their log, in one thread, from a seed: they write, read and
// lead while answers, steps and leases get lost, the stream is cut and the log compacted. In the
// end the log's own history is the witness of all that they were told.
#pragma once

#include <string>
#include <vector>

#include "persistence/mutant_log.hpp"

namespace troupe::persistence::testing {

// What does not hold; empty where all does:
// - what was acknowledged happened once, at the revision that was told; what was refused never, and
//   what nobody knows at most once;
// - nothing of a term happened after it;
// - a barrier showed all that had been acknowledged anywhere before it was asked for, and a
// conflict
//   what it was about;
// - in the end each of them has what the log has, and everyone is answered.
std::vector<std::string> run_planes(std::uint64_t seed, mutant without = mutant::none);

}  // namespace troupe::persistence::testing

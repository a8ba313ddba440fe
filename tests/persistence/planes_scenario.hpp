// Three control planes over a model of their log, in one thread, from a seed: they write, read and
// lead while responses, steps and leases are lost, the stream is cut and the log compacted. At the
// end all their responses are checked against the log's own history.
#pragma once

#include <string>
#include <vector>

#include "persistence/mutant_log.hpp"

namespace troupe::persistence::testing {

// The violated guarantees; empty if all hold:
// - an acknowledged write happened once, at the reported revision; a refused one never, and one
//   with unknown outcome at most once;
// - no write of a term happened after its end;
// - a barrier showed all writes that had been acknowledged anywhere before it was requested;
// - when a conflict was reported, the local state
//   showed its cause;
// - at the end each of them has the log's state, and every request is answered;
// - the audit finds no difference in a state that has none.
// `partial` is the probability that a step loses one of several objects (model_faults).
std::vector<std::string> run_planes(std::uint64_t seed, mutant without = mutant::none,
                                    double partial = 0);

// The same, while stores are killed and opened again from their disks, of which some have lost the
// newest writes, and while the log is full for some time. Requests of a killed store may still
// happen. Also:
// - what was true of a write is true of a removal, which a full log takes;
// - at the end somebody leads, and all of them show that.
std::vector<std::string> run_killed_planes(std::uint64_t seed);

}  // namespace troupe::persistence::testing

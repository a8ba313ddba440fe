// Plays a transcript (transcript.hpp) with one kubectl against a node of its own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "system/kubectl.hpp"

namespace troupe::test {

// `folder` gets the node's and the terminal's files; `more` are further flags of the node. Returns
// the first difference, or the error that ended it; empty if all is as expected.
std::string play_transcript(const kubectl& with, const std::filesystem::path& file,
                            const std::filesystem::path& folder,
                            const std::vector<std::string>& more = {});

}  // namespace troupe::test

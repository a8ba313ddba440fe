// The hellos at the beginning of a link: which version of stream.proto both sides speak. Pure.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "runtime/link/transport/stream.pb.h"

namespace troupe::runtime::link {

// The first message of the calling side.
Hello first_hello();
// The called side's answer: the newest version that both speak; else why there is none and which
// side to upgrade, in one line for the caller.
tl::expected<Hello, std::string> answer(const Hello& caller);
// How the calling side judges the answer.
tl::expected<void, std::string> check(const Hello& answer);

}  // namespace troupe::runtime::link

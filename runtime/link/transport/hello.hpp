// The hellos at the start of a link negotiate the version of stream.proto. Pure functions.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "runtime/link/transport/stream.pb.h"

namespace troupe::runtime::link {

// The client's first message.
Hello first_hello();
// The server's answer: the newest common version; otherwise an error in one line for the client,
// which says which side to upgrade.
tl::expected<Hello, std::string> answer(const Hello& caller);
// Validates the answer on the client.
tl::expected<void, std::string> check(const Hello& answer);

}  // namespace troupe::runtime::link

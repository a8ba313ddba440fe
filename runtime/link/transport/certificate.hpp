// Reads the parts of certificates that the link needs. Pure except for OpenSSL.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "runtime/link/link.hpp"

namespace troupe::runtime::link {

// Name, groups and key of a verified certificate (PEM).
tl::expected<peer, std::string> read_peer(const std::string& certificate);

// Checks that the texts are a certificate, its key and a CA; the error names the invalid one in one
// line without its content.
tl::expected<void, std::string> check(const credentials& credentials);

}  // namespace troupe::runtime::link

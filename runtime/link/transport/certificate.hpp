// Reads the parts of certificates that the link needs. Pure but for OpenSSL.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "runtime/link/link.hpp"

namespace troupe::runtime::link {

// Name, groups and key of a certificate (PEM) that was verified.
tl::expected<peer, std::string> read_peer(const std::string& certificate);

// That the texts are a certificate, its key and an authority; else which of them is not, in one
// line without a byte of it.
tl::expected<void, std::string> check(const credentials& credentials);

}  // namespace troupe::runtime::link

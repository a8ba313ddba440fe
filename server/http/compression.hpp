// Long answers compressed by gzip, for clients that take it (kubernetes:
// apiserver/pkg/endpoints/handlers/responsewriters/writers.go).
#pragma once

#include <cstddef>
#include <string_view>

#include "server/http/http.hpp"

namespace troupe::server {

// An Accept-Encoding header that takes gzip: it names it or "*", with a quality above 0.
bool takes_gzip(std::string_view accept_encoding);

// Compresses an answer that is long enough (defaults::compress_from), or not known to its end yet,
// unless too many are being compressed already (defaults::compressions).
// The work is done part by part while the answer is sent, on the thread of its connection.
void compress(response& answer);

}  // namespace troupe::server

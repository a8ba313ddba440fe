// gzip compression of long responses for clients that accept it (kubernetes:
// apiserver/pkg/endpoints/handlers/responsewriters/writers.go).
#pragma once

#include <cstddef>
#include <string_view>

#include "server/http/http.hpp"

namespace troupe::server {

// Whether an Accept-Encoding header accepts gzip: by name or "*", with a quality above 0.
bool takes_gzip(std::string_view accept_encoding);

// Compresses a response that is long (defaults::compress_from) or of unknown length, unless too
// many are being compressed (defaults::compressions). Compresses part by part while the response is
// sent, on the connection's thread.
void compress(response& answer);

}  // namespace troupe::server

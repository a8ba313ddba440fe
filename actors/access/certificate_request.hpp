// Reads requests for certificates (PKCS#10 in PEM). Pure but for OpenSSL.
#pragma once

#include <optional>
#include <string>

namespace troupe::actors {

// The common name of its subject, empty where it has none; nothing when the text is no request.
// Neither the signature nor the rest of it is looked at.
std::optional<std::string> common_name_of_request(const std::string& pem);

}  // namespace troupe::actors

// Reads certificate requests (PKCS#10 in PEM). Pure except for OpenSSL.
#pragma once

#include <optional>
#include <string>

namespace troupe::actors {

// Returns the common name of the subject, empty if it has none; nothing if the text is not a
// request. Checks neither the signature nor the rest.
std::optional<std::string> common_name_of_request(const std::string& pem);

}  // namespace troupe::actors

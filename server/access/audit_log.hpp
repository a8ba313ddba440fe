// The "audit" logger: one line of structured JSON for each event. Thread safe.
#pragma once

#include <string>
#include <string_view>

namespace troupe::server {

bool audit_enabled();
// Adds ,"key":"value" unless the value is empty.
void append_audit(std::string& line, std::string_view key, std::string_view value);
void write_audit(const std::string& line);

}  // namespace troupe::server

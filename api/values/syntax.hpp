// The syntaxes of strings in the API (enum Syntax of the schema and a few more). Each check returns
// the errors, in the wording of Kubernetes; empty if the string is valid.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/schema/options.pb.h"

namespace troupe::api {

using error_messages = std::vector<std::string>;

error_messages check_dns_label(std::string_view s);       // RFC 1123, at most 63
error_messages check_dns_subdomain(std::string_view s);   // RFC 1123, at most 253
error_messages check_dns_1035_label(std::string_view s);  // begins with a letter, at most 63
error_messages check_qualified_name(std::string_view s);  // [prefix/]name, label keys
error_messages check_label_value(std::string_view s);
error_messages check_port_name(std::string_view s);
error_messages check_env_name(std::string_view s);
error_messages check_config_key(std::string_view s);
error_messages check_ip(std::string_view s);
error_messages check_absolute_path(std::string_view s);
error_messages check_percent(std::string_view s);  // "25%"
error_messages check_http_header_name(std::string_view s);
// A segment of a URL path: no "/", no "%", neither "." nor "..".
error_messages check_path_segment(std::string_view s);
error_messages check_port_number(long long port);

error_messages check_syntax(Syntax syntax, std::string_view s);

}  // namespace troupe::api

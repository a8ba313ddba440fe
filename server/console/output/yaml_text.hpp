// A JSON value as YAML in block style. Pure.
#pragma once

#include <rapidjson/document.h>

#include <string>

namespace troupe::server {

std::string yaml_text(const rapidjson::Value& value);

}  // namespace troupe::server

// A JSON value as block-style YAML. Pure.
#pragma once

#include <rapidjson/document.h>

#include <string>

namespace troupe::server {

std::string yaml_text(const rapidjson::Value& value);

}  // namespace troupe::server

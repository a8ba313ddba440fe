// Short functions to load a configuration and to get its errors.
#pragma once

#include <string>

#include "config/load.hpp"
#include "support/scratch_folder.hpp"

namespace troupe::config::test {

using troupe::test::scratch_folder;

// The lines of an error, joined.
inline std::string lines(const problems& all) {
  std::string result;
  for (const auto& line : all)
    result += (result.empty() ? "" : "\n") + line;
  return result;
}

// The errors; empty if the configuration is accepted.
inline std::string refused(const inputs& from) {
  const auto loaded = load(from);
  return loaded ? "" : lines(loaded.error());
}

inline std::string refused_flag(const std::string& name, const std::string& text) {
  return refused({.flags = {{name, text}}, .host_name = "host"});
}

}  // namespace troupe::config::test

// A configuration in writing: as a file that loads to the same, and as documentation.
#pragma once

#include <span>
#include <string>

#include "config/load.hpp"

namespace troupe::config {

// YAML with the source of each value as a comment. A secret's value is never written: a comment
// says where it is from.
std::string render_yaml(const loaded_config& loaded, std::span<const setting> rows = table());

// Markdown: every key with its names, form, default and meaning.
std::string render_docs(std::span<const setting> rows = table());

// The default in words: a value, or what it is derived from.
std::string default_text(const setting& row);

}  // namespace troupe::config

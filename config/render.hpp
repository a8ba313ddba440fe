// Renders a configuration as a file that loads to the same values, and as documentation.
#pragma once

#include <span>
#include <string>

#include "config/load.hpp"

namespace troupe::config {

// YAML with the source of each value as a comment. Secret values are never written, only their
// source.
std::string render_yaml(const loaded_config& loaded, std::span<const setting> rows = table());

// Markdown: every key with its names, form, default and meaning.
std::string render_docs(std::span<const setting> rows = table());

// The default as text: a value, or how it is derived.
std::string default_text(const setting& row);

}  // namespace troupe::config

// The files of page/, which the build turns into constants.
#pragma once

#include <string_view>

namespace troupe::server::page_files {

extern const std::string_view index_html;
extern const std::string_view app_js;
extern const std::string_view style_css;

}  // namespace troupe::server::page_files

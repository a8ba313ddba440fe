#include "server/console/page/page.hpp"

#include <array>

#include "server/access/public_paths.hpp"
#include "server/console/page/page_files.hpp"

namespace troupe::server {
namespace {

struct file {
  const char* type;
  std::string_view content;
};

// In the order of console_page_paths.
const auto& files() {
  static const std::array<file, console_page_paths.size()> all{{
      {"text/html; charset=utf-8", page_files::index_html},
      {"text/html; charset=utf-8", page_files::index_html},
      {"text/javascript; charset=utf-8", page_files::app_js},
      {"text/css; charset=utf-8", page_files::style_css},
  }};
  return all;
}

}  // namespace

std::optional<response> console_page(std::string_view path) {
  for (std::size_t i = 0; i < files().size(); ++i) {
    if (console_page_paths[i] != path) continue;
    const auto& each = files()[i];
    response answer;
    answer.content_type = each.type;
    answer.fields.push_back({"x-content-type-options", "nosniff"});
    // The page may only connect to its own origin.
    answer.fields.push_back({"content-security-policy",
                             "default-src 'none'; script-src 'self'; style-src 'self'; "
                             "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"});
    answer.content.add_static(each.content);
    return answer;
  }
  return std::nullopt;
}

}  // namespace troupe::server

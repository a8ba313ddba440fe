#include "server/console/page.hpp"

#include <array>

#include "server/console/page_files.hpp"

namespace troupe::server {
namespace {

struct file {
  std::string_view path;
  const char* type;
  std::string_view content;
};

const std::array<file, 4>& files() {
  static const std::array<file, 4> all{{
      {"/console", "text/html; charset=utf-8", page_files::index_html},
      {"/console/", "text/html; charset=utf-8", page_files::index_html},
      {"/console/app.js", "text/javascript; charset=utf-8", page_files::app_js},
      {"/console/style.css", "text/css; charset=utf-8", page_files::style_css},
  }};
  return all;
}

}  // namespace

bool is_console_page(std::string_view path) noexcept {
  for (const auto& each : files())
    if (each.path == path) return true;
  return false;
}

std::optional<response> console_page(std::string_view path) {
  for (const auto& each : files()) {
    if (each.path != path) continue;
    response answer;
    answer.content_type = each.type;
    answer.fields.push_back({"x-content-type-options", "nosniff"});
    // What the page may do: talk to where it came from, and nothing else.
    answer.fields.push_back({"content-security-policy",
                             "default-src 'none'; script-src 'self'; style-src 'self'; "
                             "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"});
    answer.content.add_static(each.content);
    return answer;
  }
  return std::nullopt;
}

}  // namespace troupe::server

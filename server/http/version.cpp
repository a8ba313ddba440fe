#include "server/http/version.hpp"

#include "server/revision.hpp"

#define TROUPE_KUBERNETES_VERSION "v1.33.0+troupe-" TROUPE_VERSION

namespace troupe::server {
namespace {

// JSON with upstream's members and indentation.
constexpr std::string_view document =
    "{\n"
    "  \"major\": \"1\",\n"
    "  \"minor\": \"33\",\n"
    "  \"gitVersion\": \"" TROUPE_KUBERNETES_VERSION
    "\",\n"
    "  \"gitCommit\": \"" TROUPE_COMMIT
    "\",\n"
    "  \"gitTreeState\": \"" TROUPE_TREE_STATE
    "\",\n"
    "  \"buildDate\": \"1970-01-01T00:00:00Z\",\n"
    "  \"goVersion\": \"\",\n"
    "  \"compiler\": \"g++ " __VERSION__
    "\",\n"
    "  \"platform\": \"linux/amd64\"\n"
    "}";

}  // namespace

std::string_view program_version() noexcept {
  return TROUPE_VERSION;
}

std::string kubernetes_version() {
  return TROUPE_KUBERNETES_VERSION;
}

response version_response() {
  response answer;
  answer.content_type = "application/json";
  answer.content.add_static(document);
  return answer;
}

}  // namespace troupe::server

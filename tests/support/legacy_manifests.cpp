#include "support/legacy_manifests.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "build_paths.hpp"
#include "support/skip.hpp"

namespace troupe::test {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string kind_by_name(const std::string& file) {
  if (file.find("controller") != std::string::npos) return "ReplicationController";
  if (file.find("service") != std::string::npos) return "Service";
  return "Pod";
}

// The objects of "items"; the text itself if there is no such list. The files contain no braces
// in strings.
std::vector<std::string> items_of(const std::string& json) {
  auto at = json.find("\"items\"");
  if (at == std::string::npos) return {json};
  std::vector<std::string> out;
  int depth = 0;
  for (auto begin = at; at < json.size(); ++at) {
    if (json[at] == '{' && depth++ == 0) begin = at;
    if (json[at] == '}' && --depth == 0) out.push_back(json.substr(begin, at + 1 - begin));
    if (json[at] == ']' && depth == 0) break;
  }
  return out;
}

}  // namespace

std::vector<legacy_manifest> legacy_manifests() {
  std::vector<legacy_manifest> out;
  for (const char* folder : {"2014-v0.2", "2014-v0.6"}) {
    const auto path = std::filesystem::path(TROUPE_SOURCE_DIR) / "../shared/data" / folder;
    if (!std::filesystem::exists(path)) {
      troupe::test::skip(path.string() + " does not exist");
      continue;
    }
    for (const auto& file : std::filesystem::directory_iterator(path)) {
      const auto name = file.path().filename().string();
      const auto text = text_of(file.path());
      out.push_back(
          {name, kind_by_name(name), name.ends_with(".json") ? items_of(text) : std::vector{text}});
    }
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

}  // namespace troupe::test

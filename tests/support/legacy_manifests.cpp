#include "support/legacy_manifests.hpp"

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

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

std::vector<std::string> items_of(const std::string& json) {
  rapidjson::Document list;
  list.Parse(json.c_str());
  if (list.HasParseError() || !list.HasMember("items")) return {json};
  std::vector<std::string> out;
  for (const auto& item : list["items"].GetArray()) {
    rapidjson::StringBuffer text;
    rapidjson::Writer<rapidjson::StringBuffer> writer{text};
    item.Accept(writer);
    out.emplace_back(text.GetString());
  }
  return out;
}

}  // namespace

std::vector<legacy_manifest> legacy_manifests() {
  std::vector<legacy_manifest> out;
  for (const char* folder : {"2014-v0.2", "2014-v0.6"}) {
    const auto path = std::filesystem::path(TROUPE_SOURCE_DIR) / "../shared/data" / folder;
    if (!std::filesystem::exists(path)) {
      WARN("skipped: " << path << " is not here");
      continue;
    }
    for (const auto& file : std::filesystem::directory_iterator(path)) {
      const auto name = file.path().filename().string();
      const auto text = text_of(file.path());
      out.push_back({name, kind_by_name(name),
                     name.ends_with(".json") ? items_of(text) : std::vector{text}});
    }
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

}  // namespace troupe::test

#include "persistence/engine/old_logs.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "persistence/format/record.hpp"

namespace troupe::persistence {

namespace fs = std::filesystem;

std::vector<old_log> find_old_logs(const std::string& directory, std::uint64_t oldest,
                                   std::uint64_t newest) {
  std::vector<old_log> found;
  std::error_code bad;
  for (fs::directory_iterator each{directory, bad}, end; !bad && each != end; each.increment(bad)) {
    if (each->path().extension() != ".log") continue;
    const auto number = read_number(each->path().stem().string());
    std::error_code gone;
    const auto size = each->file_size(gone);
    if (number && !gone && *number >= oldest && *number <= newest) found.push_back({*number, size});
  }
  std::sort(found.begin(), found.end(),
            [](const old_log& a, const old_log& b) { return a.number < b.number; });
  return found;
}

std::string to_text(const std::vector<old_log>& logs) {
  std::string text;
  for (const auto& each : logs)
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", each.number, each.size_bytes);
  return text;
}

std::optional<std::vector<old_log>> read_old_logs(std::string_view text) {
  std::vector<old_log> found;
  std::istringstream words{std::string{text}};
  for (std::string word; words >> word;) {
    const auto colon = std::min(word.find(':'), word.size());
    const auto number = read_number(std::string_view{word}.substr(0, colon));
    const auto size = read_number(std::string_view{word}.substr(std::min(colon + 1, word.size())));
    if (!number || !size) return std::nullopt;
    found.push_back({*number, *size});
  }
  return found;
}

std::optional<std::string> find_lost_log(const std::string& directory,
                                         const std::vector<old_log>& noted, std::uint64_t oldest) {
  for (const auto& each : noted) {
    const auto name = fmt::format("{:06}.log", each.number);
    std::error_code bad;
    const auto size = fs::file_size(directory + "/" + name, bad);
    if (bad && each.number >= oldest) return fmt::format("the write-ahead log {} is missing", name);
    if (!bad && size < each.size_bytes)
      return fmt::format("the write-ahead log {} had {} bytes and has {}", name, each.size_bytes,
                         size);
  }
  return std::nullopt;
}

}  // namespace troupe::persistence

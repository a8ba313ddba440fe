#include "system/transcript.hpp"

#include <algorithm>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "build_paths.hpp"

namespace troupe::test {
namespace {

std::string trim_end(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r'))
    line.remove_suffix(1);
  return std::string{line};
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    out.push_back(trim_end(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  while (!out.empty() && out.back().empty())
    out.pop_back();
  return out;
}

bool glob_fits(std::string_view pattern, std::string_view line) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == line;
  if (line.substr(0, star) != pattern.substr(0, star)) return false;
  const auto rest = pattern.substr(star + 1);
  for (auto tail = line.substr(star);; tail.remove_prefix(1)) {
    if (glob_fits(rest, tail)) return true;
    if (tail.empty()) return false;
  }
}

bool fits(const std::string& pattern, const std::string& line) {
  if (pattern.starts_with("~ ")) return std::regex_match(line, std::regex{pattern.substr(2)});
  return glob_fits(pattern, line);
}

// Whether the expected lines from `e` on match the lines from `l` on; records the progress.
bool fit_all(const std::vector<std::string>& expected, std::size_t e,
             const std::vector<std::string>& lines, std::size_t l, std::size_t& furthest) {
  furthest = std::max(furthest, e);
  if (e == expected.size()) return l == lines.size();
  if (expected[e] == "...") {
    for (auto next = l; next <= lines.size(); ++next)
      if (fit_all(expected, e + 1, lines, next, furthest)) return true;
    return false;
  }
  return l < lines.size() && fits(expected[e], lines[l]) &&
         fit_all(expected, e + 1, lines, l + 1, furthest);
}

// Parses "[1] {>=1.27} kubectl ...".
transcript_step parse_command(std::string_view text, int line) {
  transcript_step step;
  step.line = line;
  step.eventually = text.starts_with("$~ ");
  text.remove_prefix(step.eventually ? 3 : 2);
  const auto mark = [&](char open, char close) -> std::string {
    if (!text.starts_with(open)) return {};
    const auto end = text.find(close);
    if (end == std::string_view::npos)
      throw std::runtime_error{"line " + std::to_string(line) + ": a mark without an end"};
    std::string inside{text.substr(1, end - 1)};
    text.remove_prefix(end + 1);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return inside;
  };
  if (const auto code = mark('[', ']'); !code.empty()) step.exit_code = std::stoi(code);
  step.versions = mark('{', '}');
  step.command = text;
  return step;
}

std::pair<int, int> numbers_of(std::string_view version) {
  std::istringstream in{std::string{version}};
  int major = 0, minor = 0;
  char dot = 0;
  in >> major >> dot >> minor;
  return {major, minor};
}

}  // namespace

std::vector<std::filesystem::path> transcript_files() {
  std::vector<std::filesystem::path> out;
  for (const auto& each :
       std::filesystem::directory_iterator{TROUPE_SOURCE_DIR "/tests/system/transcripts"})
    out.push_back(each.path());
  std::sort(out.begin(), out.end());
  return out;
}

transcript parse_transcript(std::string_view text) {
  transcript out;
  int number = 0;
  for (const auto& line : lines_of(text)) {
    ++number;
    if (line.starts_with("#")) continue;
    if (line.starts_with("@ ")) {
      std::istringstream words{line.substr(2)};
      for (std::string word; words >> word;)
        out.flags.push_back(word);
    } else if (line.starts_with("< ")) {
      out.files.push_back({line.substr(2), {}});
    } else if (line.starts_with("| ") || line == "|") {
      if (out.files.empty() || !out.steps.empty())
        throw std::runtime_error{"line " + std::to_string(number) + ": a line of no file"};
      out.files.back().content += line.substr(std::min<std::size_t>(2, line.size())) + "\n";
    } else if (line.starts_with("$ ") || line.starts_with("$~ ")) {
      out.steps.push_back(parse_command(line, number));
    } else if (!line.empty()) {
      if (out.steps.empty())
        throw std::runtime_error{"line " + std::to_string(number) + ": output of no command"};
      out.steps.back().expected.push_back(line);
    }
  }
  return out;
}

std::string mismatch(const std::vector<std::string>& expected, std::string_view output) {
  const auto all = lines_of(output);
  std::vector<std::string> lines;
  // Blank lines separate parts of `describe` and `explain`; transcripts omit them.
  for (const auto& line : all)
    if (!line.empty()) lines.push_back(line);
  std::size_t furthest = 0;
  if (fit_all(expected, 0, lines, 0, furthest)) return {};
  return furthest < expected.size() ? "nothing fits \"" + expected[furthest] + "\""
                                    : "there are more lines than expected";
}

bool version_fits(std::string_view version, std::string_view condition) {
  if (condition.empty()) return true;
  const auto numbers = numbers_of(version);
  if (condition.starts_with(">=")) return numbers >= numbers_of(condition.substr(2));
  if (condition.starts_with("<")) return numbers < numbers_of(condition.substr(1));
  if (condition.starts_with("=")) return numbers == numbers_of(condition.substr(1));
  throw std::runtime_error{"a version condition begins with >=, < or ="};
}

}  // namespace troupe::test

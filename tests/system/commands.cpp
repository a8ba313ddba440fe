#include "system/commands.hpp"

#include <cctype>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace troupe::test {
namespace {

// kubectl create secret generic
constexpr int deepest_command = 3;

bool is_of_a_name(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '_';
}

void add_commands(const help_reader& help, const std::string& command, int depth,
                  std::vector<std::string>& out) {
  const auto below =
      depth < deepest_command ? commands_in(help(command)) : std::vector<std::string>{};
  if (below.empty() && !command.empty()) out.push_back(command);
  for (const auto& name : below)
    add_commands(help, command.empty() ? name : command + " " + name, depth + 1, out);
}

}  // namespace

std::vector<std::string> commands_in(std::string_view help) {
  std::vector<std::string> out;
  std::istringstream lines{std::string{help}};
  bool listed = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (line[0] != ' ') {
      listed = line.ends_with(':') && line.find("Commands") != std::string::npos;
    } else if (listed && line.starts_with("  ") && line.size() > 2 && is_of_a_name(line[2])) {
      out.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return out;
}

std::vector<std::string> commands_of(const help_reader& help) {
  std::vector<std::string> out;
  add_commands(help, {}, 0, out);
  return out;
}

bool calls(std::string_view script, std::string_view command) {
  const auto call = "kubectl " + std::string{command};
  for (auto at = script.find(call); at != script.npos; at = script.find(call, at + 1)) {
    const auto end = at + call.size();
    const bool begins = at == 0 || !is_of_a_name(script[at - 1]);
    if (begins && (end == script.size() || !is_of_a_name(script[end]))) return true;
  }
  return false;
}

std::vector<unplayed_command> parse_unplayed(std::string_view text) {
  static const std::regex form{R"(\{(\S+)\} ([a-z][a-z -]*): (\S.*))"};
  std::vector<unplayed_command> out;
  std::istringstream lines{std::string{text}};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.starts_with("#")) continue;
    std::smatch parts;
    if (!std::regex_match(line, parts, form))
      throw std::runtime_error{"line " + std::to_string(number) +
                               ": not as \"{versions} command: reason\""};
    out.push_back({parts[1], parts[2], parts[3]});
  }
  return out;
}

}  // namespace troupe::test

#include "tools/command_line/completion.hpp"

#include <fmt/format.h>

#include <functional>
#include <sstream>
#include <vector>

namespace troupe::tools {

namespace {

struct word {
  std::string text;
  std::string about;
};

// The kind of words that can follow a flag or be an argument.
enum class source { words, folders, files, anything };
struct argument {
  std::string flag;  // empty: the positional arguments
  source from = source::anything;
  std::vector<std::string> choices;
};

// One place in the tree of subcommands: "" or " config print".
struct place {
  std::string path;
  std::vector<word> subcommands;
  std::vector<word> flags;
  std::vector<argument> arguments;
};

argument argument_of(const CLI::App& root, const CLI::Option& option) {
  argument result{option.get_positional() ? "" : option.get_name(), source::anything, {}};
  const auto type = option.get_type_name();
  if (type == "DIR") {
    result.from = source::folders;
  } else if (type == "FILE") {
    result.from = source::files;
  } else if (type == "SUBCOMMAND") {
    result.from = source::words;
    for (const auto* sub : root.get_subcommands({}))
      result.choices.push_back(sub->get_name());
  } else if (type.find('|') != std::string::npos) {
    result.from = source::words;
    std::istringstream in(type);
    for (std::string item; std::getline(in, item, '|');)
      result.choices.push_back(item);
  }
  return result;
}

// The first sentence, without its full stop and without characters that end a quoted string.
std::string summary(const std::string& text) {
  std::string result;
  for (const char c : text.substr(0, std::min(text.find(". "), text.size() - 1))) {
    if (c != '\'' && c != '"' && c != '\\' && c != '`' && c != '$') result += c;
  }
  return result;
}

void collect(const CLI::App& root, const CLI::App& app, const std::string& path,
             std::vector<place>& all) {
  place here{path, {}, {}, {}};
  for (const auto* option : app.get_options()) {
    const bool takes_value = option->get_items_expected_max() > 0;
    if (takes_value) here.arguments.push_back(argument_of(root, *option));
    if (!option->get_positional()) {
      const auto& names = option->get_lnames();
      here.flags.push_back({"--" + names.front(), summary(option->get_description())});
    }
  }
  for (const auto* sub : app.get_subcommands({})) {
    here.subcommands.push_back({sub->get_name(), summary(sub->get_description())});
    collect(root, *sub, path + " " + sub->get_name(), all);
  }
  all.push_back(std::move(here));
}

std::string joined(const std::vector<std::string>& all, const char* between = " ") {
  return fmt::format("{}", fmt::join(all, between));
}

// -- bash and zsh: two case statements over "PATH WORD-BEFORE" and "PATH" -------------------------

struct dialect {
  // The function up to the first case statement; {paths} stands for the pattern of all places.
  std::string_view head;
  std::function<std::string(const argument&)> values;
  std::function<std::string(const place&)> words;
  std::string_view tail;
};

std::string case_script(const std::vector<place>& places, const dialect& shell) {
  std::vector<std::string> paths;
  for (const auto& at : places) {
    if (!at.path.empty()) paths.push_back("\"" + at.path + "\"");
  }
  auto result = fmt::format(fmt::runtime(shell.head), fmt::arg("paths", joined(paths, "|")));
  for (const auto& at : places) {
    for (const auto& each : at.arguments) {
      if (each.flag.empty()) continue;
      result +=
          fmt::format("    \"{} {}\") {}; return ;;\n", at.path, each.flag, shell.values(each));
    }
  }
  result += "  esac\n  case \"$at\" in\n";
  for (const auto& at : places) {
    result += fmt::format("    \"{}\") {} ;;\n", at.path, shell.words(at));
  }
  return result.append(shell.tail);
}

std::vector<std::string> offered(const place& at) {
  std::vector<std::string> result;
  for (const auto& each : at.subcommands)
    result.push_back(each.text);
  for (const auto& each : at.flags)
    result.push_back(each.text);
  for (const auto& each : at.arguments) {
    if (each.flag.empty()) result.insert(result.end(), each.choices.begin(), each.choices.end());
  }
  return result;
}

dialect bash() {
  return {
      R"(# bash completion for troupe: source <(troupe completion bash)
_troupe() {{
  local at= i cur=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at ${{COMP_WORDS[i]}}" in {paths}) at+=" ${{COMP_WORDS[i]}}" ;; esac
  done
  COMPREPLY=()
  case "$at $before" in
)",
      [](const argument& each) -> std::string {
        if (each.from == source::folders) return R"(COMPREPLY=($(compgen -d -- "$cur")))";
        if (each.from == source::files) return R"(COMPREPLY=($(compgen -f -- "$cur")))";
        if (each.from == source::anything) return ":";
        return fmt::format(R"(COMPREPLY=($(compgen -W "{}" -- "$cur")))", joined(each.choices));
      },
      [](const place& at) {
        return fmt::format(R"(COMPREPLY=($(compgen -W "{}" -- "$cur")))", joined(offered(at)));
      },
      "  esac\n}\ncomplete -F _troupe troupe\n"};
}

std::string described(const std::vector<word>& words) {
  std::string result;
  for (const auto& each : words)
    result += fmt::format(" '{}:{}'", each.text, each.about);
  return result;
}

dialect zsh() {
  return {
      R"(#compdef troupe
# zsh completion for troupe: source <(troupe completion zsh)
_troupe() {{
  local at= word before=${{words[CURRENT-1]}}
  local -a offered
  for word in ${{words[2,CURRENT-1]}}; do
    case "$at $word" in {paths}) at+=" $word" ;; esac
  done
  case "$at $before" in
)",
      [](const argument& each) -> std::string {
        if (each.from == source::folders) return "_files -/";
        if (each.from == source::files) return "_files";
        if (each.from == source::anything) return ":";
        return "compadd -- " + joined(each.choices);
      },
      [](const place& at) {
        auto result = fmt::format("offered=({}{})", described(at.subcommands), described(at.flags));
        for (const auto& each : at.arguments) {
          if (each.flag.empty() && !each.choices.empty()) {
            result += "; compadd -- " + joined(each.choices);
          }
        }
        return result;
      },
      "  esac\n  (( ${#offered} )) && _describe troupe offered\n}\n"
      "if (( ${+functions[compdef]} )); then compdef _troupe troupe; fi\n"};
}

// -- fish: one line for each word, guarded by the place -------------------------------------------

std::string fish_value(const argument& each) {
  if (each.from == source::folders) return "-x -a '(__fish_complete_directories)'";
  if (each.from == source::files) return "-r -F";
  if (each.from == source::anything) return "-x";
  return "-x -a '" + joined(each.choices) + "'";
}

std::string fish_script(const std::vector<place>& places) {
  std::vector<std::string> paths;
  for (const auto& at : places) {
    if (!at.path.empty()) paths.push_back("'" + at.path + "'");
  }
  auto result = fmt::format(R"(# fish completion for troupe: troupe completion fish | source
function __troupe_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case {}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
complete -c troupe -f
)",
                            joined(paths));
  for (const auto& at : places) {
    const auto line = fmt::format("complete -c troupe -n \"__troupe_at '{}'\"", at.path);
    for (const auto& each : at.subcommands) {
      result += fmt::format("{} -a {} -d '{}'\n", line, each.text, each.about);
    }
    for (const auto& each : at.flags) {
      std::string value;
      for (const auto& argument : at.arguments) {
        if (argument.flag == each.text) value = " " + fish_value(argument);
      }
      result += fmt::format("{} -l {}{} -d '{}'\n", line, each.text.substr(2), value, each.about);
    }
    for (const auto& each : at.arguments) {
      if (each.flag.empty() && !each.choices.empty()) {
        result += fmt::format("{} -a '{}'\n", line, joined(each.choices));
      }
    }
  }
  return result;
}

}  // namespace

std::string completion_script(const CLI::App& root, const std::string& shell) {
  std::vector<place> places;
  collect(root, root, "", places);
  if (shell == "bash") return case_script(places, bash());
  if (shell == "zsh") return case_script(places, zsh());
  if (shell == "fish") return fish_script(places);
  return {};
}

}  // namespace troupe::tools

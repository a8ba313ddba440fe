// The prompt: lines with history and completion by libedit.
#include <editline/readline.h>
#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>

#include "tools/command_line/program.hpp"
#include "tools/console/console_command.hpp"
#include "tools/console/console_session.hpp"
#include "tools/defaults.hpp"

namespace troupe::tools {

namespace {

// libedit calls plain functions: a process has only one prompt.
console_session* prompting = nullptr;

// The strings of a JSON array of strings.
std::vector<std::string> strings_in(std::string_view json) {
  std::vector<std::string> found;
  for (auto at = json.find('"'); at != std::string_view::npos; at = json.find('"', at + 1)) {
    const auto end = json.find('"', at + 1);
    if (end == std::string_view::npos) break;
    found.emplace_back(json.substr(at + 1, end - at - 1));
    at = end;
  }
  return found;
}

std::vector<std::string> beginning_with(const std::string& text,
                                        const std::vector<std::string>& words) {
  std::vector<std::string> found;
  for (const auto& each : words)
    if (each.starts_with(text)) found.push_back(each);
  return found;
}

// Asks the node for names.
std::vector<std::string> names_beginning(const std::string& text, console_word word) {
  const auto answer = prompting->names(text, word == console_word::object);
  return answer ? strings_in(*answer) : std::vector<std::string>{};
}

// The values that can follow a flag.
std::vector<std::string> values_of(std::string_view flag, const std::string& text) {
  if (flag == "--object") return names_beginning(text, console_word::object);
  if (flag == "--actor") return names_beginning(text, console_word::actor);
  if (flag == "--node") {
    constexpr std::string_view prefix = "nodes/";
    auto found = names_beginning(std::string{prefix} + text, console_word::object);
    for (auto& each : found)
      each.erase(0, prefix.size());
    return found;
  }
  return beginning_with(text, console_choices(flag.substr(2)));
}

// The words that can stand at the next position without a flag.
std::vector<std::string> words_at(const console_command& command,
                                  const std::vector<std::string>& words, const std::string& text) {
  std::size_t position = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) {
      ++position;
    } else if (words[i].find('=') == std::string::npos) {
      ++i;
    }
  }
  if (position >= command.positions.size()) return {};
  const auto choices = console_choices(command.positions[position]);
  if (!choices.empty()) return beginning_with(text, choices);
  if (command.word == console_word::none) return {};
  return names_beginning(text, command.word);
}

std::vector<std::string> candidates(const std::string& text, const std::string& before) {
  const auto words = console_words(before);
  if (words.empty() || words.front() == "help") {
    std::vector<std::string> names{"help", "quit"};
    for (const auto& each : console_commands())
      names.push_back(each.name);
    return beginning_with(text, names);
  }
  const auto* command = console_command_called(words.front());
  if (command == nullptr) return {};
  if (text.starts_with("--")) {
    std::vector<std::string> flags;
    for (const auto& each : command->flags)
      flags.push_back("--" + each);
    return beginning_with(text, flags);
  }
  if (words.back().starts_with("--")) return values_of(words.back(), text);
  return words_at(*command, words, text);
}

std::vector<std::string> offered;
std::size_t next_offered = 0;

char* next_candidate(const char*, int state) {
  if (state == 0) next_offered = 0;
  return next_offered < offered.size() ? ::strdup(offered[next_offered++].c_str()) : nullptr;
}

char** complete(const char* text, int start, int) {
  rl_attempted_completion_over = 1;  // no file names
  offered =
      candidates(text, std::string{rl_line_buffer}.substr(0, static_cast<std::size_t>(start)));
  return offered.empty() ? nullptr : rl_completion_matches(text, next_candidate);
}

std::filesystem::path history_path() {
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? std::filesystem::path{}
                                          : std::filesystem::path{home} / ".troupe_console_history";
}

void keep_history(const std::filesystem::path& path) {
  if (path.empty()) return;
  ::write_history(path.c_str());
  std::error_code ignored;
  std::filesystem::permissions(
      path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write, ignored);
}

// The input from libedit: a line, or null at the end of the input.
struct entered_line {
  bool there = false;
  std::optional<std::string> text;
};
entered_line entered;

void take_line(char* line) {
  entered.there = true;
  if (line != nullptr) entered.text = line;
  std::free(line);
}

void begin(const std::filesystem::path& history) {
  static char name[] = "troupe";
  ::rl_readline_name = name;
  ::rl_catch_signals = 0;  // we handle Ctrl-C
  ::using_history();
  ::stifle_history(defaults::console_history_lines);
  if (!history.empty()) ::read_history(history.c_str());
  static char breaks[] = " \t\n\"'";
  rl_completer_word_break_characters = breaks;
  rl_attempted_completion_function = complete;
  std::cout << "help lists the commands; Tab completes, quit ends.\n";
}

}  // namespace

// Waits for keys and checks for warnings meanwhile. Ctrl-C discards the line.
std::optional<std::string> console_session::read_line() {
  for (;;) {
    entered = {};
    ::rl_callback_handler_install("troupe> ", take_line);
    while (!entered.there && !interrupt_watch::seen()) {
      pollfd input{STDIN_FILENO, POLLIN, 0};
      const auto ready =
          ::poll(&input, 1, static_cast<int>(defaults::console_warning_period.count()));
      if (ready > 0 && (input.revents & POLLIN) != 0) {
        ::rl_callback_read_char();
      } else if (ready > 0) {
        entered.there = true;  // the terminal is closed
      } else if (ready == 0 && print_new_warnings()) {
        ::rl_forced_update_display();
      }
    }
    ::rl_callback_handler_remove();
    if (entered.there) return std::move(entered.text);
    interrupt_watch::forget();
    std::cout << "^C" << std::endl;
  }
}

int console_session::prompt() {
  prompting = this;
  if (::isatty(STDIN_FILENO) == 0) {
    int first = exit_code::done;
    for (std::string line; std::getline(std::cin, line) && !ends_console(line);)
      if (const auto code = run(line, false); first == exit_code::done) first = code;
    return first;
  }
  const auto history = history_path();
  begin(history);
  const interrupt_watch watch;
  for (;;) {
    interrupt_watch::forget();
    print_new_warnings();
    const auto line = read_line();
    if (!line || ends_console(*line)) break;
    if (!line->empty()) {
      ::add_history(line->c_str());
      keep_history(history);
    }
    run(*line, true);
  }
  std::cout << std::endl;
  return exit_code::done;
}

}  // namespace troupe::tools

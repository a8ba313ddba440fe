#include "tools/console/console_command.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/nearest.hpp"

namespace troupe::tools {

namespace {

std::vector<console_command> make_commands() {
  constexpr auto none = console_word::none;
  constexpr auto actor = console_word::actor;
  constexpr auto object = console_word::object;
  return {
      {"tree",
       "[ACTOR] [--depth N] [--node N]",
       "Supervisors and their children.",
       {"root"},
       0,
       {"depth", "node"},
       actor},
      {"actors",
       "[GLOB] [--kind K] [--match GLOB] [--node N] [--sort "
       "mailbox|messages|busy|longest|oldest|restarts|"
       "age|name] [--top N] [--offset N]",
       "Actors, those with the fullest mailboxes first.",
       {"match"},
       0,
       {"kind", "match", "node", "sort", "top", "offset"},
       actor},
      {"actor", "ACTOR [--node N]", "The details of one actor.", {"name"}, 1, {"node"}, actor},
      {"top",
       "[--node N]",
       "Current rates; live at a terminal (q ends it).",
       {},
       0,
       {"node"},
       none},
      {"trace",
       "[ACTOR] [--object OBJECT] [--type GLOB] [--node N]",
       "Messages with their cause, as they are handled; Ctrl-C ends it.",
       {"name"},
       0,
       {"object", "type", "node"},
       actor},
      {"history",
       "OBJECT [--top N]",
       "Every change of an object: when, by whom, what.",
       {"object"},
       1,
       {"top"},
       object},
      {"why",
       "OBJECT",
       "The causes of an object's state, from the client's request on.",
       {"object"},
       1,
       {},
       object},
      {"network",
       "OBJECT [--from OBJECT] [--port N] [--protocol P]",
       "The path to a service or a pod, and why a pod does not reach it.",
       {"to"},
       1,
       {"from", "port", "protocol"},
       object},
      {"cluster", "", "Nodes, their leases, pods and links, objects by kind.", {}, 0, {}, none},
      {"watchers",
       "[--top N]",
       "Subscribers of the change log, and their lag.",
       {},
       0,
       {"top"},
       none},
      {"store", "", "Revision, log, compaction, sizes, times of syncs.", {}, 0, {}, none},
      {"flow",
       "[--node N]",
       "Which kinds of actors send which messages to which.",
       {},
       0,
       {"node"},
       none},
      {"warnings", "[--node N]", "Current problems.", {}, 0, {"node"}, none},
      {"log",
       "[LEVEL] [--logger NAME | --actor ACTOR] [--node N]",
       "Shows the levels of the log; with LEVEL changes them, for one actor: also its messages.",
       {"level"},
       0,
       {"logger", "actor", "node"},
       none},
      {"restart",
       "ACTOR [--node N]",
       "Restarts an actor at once.",
       {"name"},
       1,
       {"node"},
       actor,
       true},
      {"pause",
       "ACTOR [--seconds N] [--node N]",
       "Stops an actor from handling messages, for a minute by default.",
       {"name"},
       1,
       {"seconds", "node"},
       actor,
       true},
      {"resume", "ACTOR [--node N]", "Ends a pause.", {"name"}, 1, {"node"}, actor, true},
      {"kill",
       "ACTOR [--node N]",
       "Crashes an actor; its supervisor restarts it after a back-off.",
       {"name"},
       1,
       {"node"},
       actor,
       true},
      {"send",
       "writer evict|remove|bind --object OBJECT [--node N]",
       "Sends a command to the writer.",
       {"name", "message"},
       2,
       {"object", "node"},
       actor,
       true},
  };
}

std::string unknown(std::string_view kind, const std::string& given,
                    const std::vector<std::string>& known, std::string_view hint) {
  return fmt::format("there is no {} {}{}; {}", kind, given, config::suggestion(given, known),
                     hint);
}

std::vector<std::string> dashed(const std::vector<std::string>& names) {
  std::vector<std::string> flags;
  for (const auto& each : names)
    flags.push_back("--" + each);
  return flags;
}

std::vector<std::string> names_of_commands() {
  std::vector<std::string> names{"help", "quit"};
  for (const auto& each : console_commands())
    names.push_back(each.name);
  return names;
}

tl::expected<void, std::string> take_words(const console_command& command,
                                           const std::vector<std::string>& words,
                                           console_request& into) {
  std::size_t position = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto& word = words[i];
    if (!word.starts_with("--")) {
      if (position == command.positions.size())
        return tl::make_unexpected(fmt::format("{}: unexpected argument \"{}\"; usage: {} {}",
                                               command.name, word, command.name, command.usage));
      into.query[command.positions[position++]] = word;
      continue;
    }
    const auto equals = word.find('=');
    const auto flag = word.substr(2, equals == std::string::npos ? equals : equals - 2);
    if (std::find(command.flags.begin(), command.flags.end(), flag) == command.flags.end())
      return tl::make_unexpected(unknown("flag", "--" + flag, dashed(command.flags),
                                         fmt::format("usage: {} {}", command.name, command.usage)));
    if (equals != std::string::npos) {
      into.query[flag] = word.substr(equals + 1);
    } else if (++i < words.size()) {
      into.query[flag] = words[i];
    } else {
      return tl::make_unexpected(fmt::format("{}: --{} needs a value", command.name, flag));
    }
  }
  if (position < command.needed)
    return tl::make_unexpected(fmt::format("{}: missing argument; usage: {} {}", command.name,
                                           command.name, command.usage));
  return {};
}

}  // namespace

const std::vector<console_command>& console_commands() {
  static const auto all = make_commands();
  return all;
}

bool takes_node(const console_command& command) {
  return command.name != "send" &&
         std::find(command.flags.begin(), command.flags.end(), "node") != command.flags.end();
}

const console_command* console_command_called(std::string_view name) {
  for (const auto& each : console_commands())
    if (each.name == name) return &each;
  return nullptr;
}

std::vector<std::string> console_choices(std::string_view parameter) {
  if (parameter == "sort")
    return {"mailbox", "messages", "busy", "longest", "oldest", "restarts", "age", "name"};
  if (parameter == "level")
    return {"trace", "debug", "info", "warning", "error", "critical", "off"};
  if (parameter == "message") return {"evict", "remove", "bind"};
  return {};
}

std::vector<std::string> console_words(std::string_view line, char* open_quote) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (const char c : line) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        words.back() += c;
      }
      continue;
    }
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank && !in_word) words.emplace_back();
    in_word = !blank;
    if (c == '"' || c == '\'') {
      quote = c;
    } else if (!blank) {
      words.back() += c;
    }
  }
  if (open_quote != nullptr) *open_quote = quote;
  return words;
}

bool ends_console(std::string_view line) {
  const auto words = console_words(line);
  return !words.empty() && (words.front() == "quit" || words.front() == "exit");
}

tl::expected<console_line, std::string> parse_console_line(std::string_view line,
                                                           bool allow_control) {
  char open = 0;
  const auto words = console_words(line, &open);
  if (open != 0) return tl::make_unexpected(fmt::format("a quote {} is not closed", open));
  if (words.empty()) return console_line{};
  const auto* command = console_command_called(words.front());
  if (command == nullptr)
    return tl::make_unexpected(
        unknown("command", words.front(), names_of_commands(), "help lists them"));
  console_line made{command, {command->name, {}, command->changes}};
  if (auto taken = take_words(*command, words, made.request); !taken)
    return tl::make_unexpected(taken.error());
  if (made.request.path == "log") made.request.changes = made.request.query.count("level") != 0;
  if (made.request.changes && !allow_control)
    return tl::make_unexpected(command->name +
                               " changes the state: start the console with --allow-control");
  return made;
}

tl::expected<std::string, std::string> console_help(std::string_view name) {
  if (const auto* one = console_command_called(name))
    return fmt::format("{} {}\n  {}\n", one->name, one->usage, one->about);
  if (!name.empty())
    return tl::make_unexpected(
        unknown("command", std::string{name}, names_of_commands(), "help lists them"));
  std::string text;
  for (const auto& each : console_commands())
    text += fmt::format("  {:<10}{}{}\n", each.name, each.about,
                        each.changes ? " (needs --allow-control)" : "");
  text += "  help      This list; help COMMAND shows its usage.\n";
  text += "  quit      Ends the console.\n";
  text +=
      "\nACTOR is kind/name, or the name alone where it is unique: writer, pod/default/web-1.\n";
  text += "OBJECT is resource/namespace/name: pods/default/web-1, nodes/n1, po/web-1.\n";
  return text;
}

}  // namespace troupe::tools

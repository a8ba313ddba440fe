#include "tools/command_line/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <sstream>

#include "config/nearest.hpp"
#include "tools/defaults.hpp"

namespace troupe::tools {

namespace {

// Wraps the text at help_columns, each line indented by `indent`.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::string result;
  std::string line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && indent + line.size() + 1 + word.size() > defaults::help_columns) {
      result += std::string(indent, ' ') + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + std::string(indent, ' ') + line + "\n";
}

// Prints names on one line and the meaning below it: readable with long flags and long words.
class help_formatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const auto type = option->get_type_name();
    return "  " + option->get_name(is_positional, true) + (type.empty() ? "" : " " + type) + "\n" +
           wrapped(option->get_description(), 6);
  }
  std::string make_subcommand(const CLI::App* sub) const override {
    return fmt::format("  {:<16}{}\n", sub->get_name(), sub->get_description());
  }
  std::string make_footer(const CLI::App* app) const override {
    const auto text = app->get_footer();
    return text.empty() ? "" : wrapped(text, 0);
  }
};

// The innermost subcommand that the arguments select.
const CLI::App& innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : innermost(*chosen.front());
}

// The names of its subcommands: "import, list or remove".
std::string alternatives(const CLI::App& app) {
  const auto all = app.get_subcommands([](const CLI::App*) { return true; });
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i)
    text += (i == 0 ? "" : i + 1 < all.size() ? ", " : " or ") + all[i]->get_name();
  return text;
}

// In reverse order, as CLI11 expects. `--flag=` means an empty value for CLI11, too.
std::vector<std::string> reversed(int argc, const char* const* argv) {
  std::vector<std::string> result;
  for (int i = argc - 1; i > 0; --i) {
    std::string text = argv[i];
    if (text.size() > 3 && text.starts_with("--") && text.find('=') == text.size() - 1) {
      text.pop_back();
      result.emplace_back();
    }
    result.push_back(std::move(text));
  }
  return result;
}

// The error, with the name of the flag that was possibly meant.
std::string error_text(const CLI::ParseError& error, const CLI::App& at,
                       const std::vector<std::string>& arguments) {
  std::vector<std::string> known;
  for (const auto* option : at.get_options())
    known.push_back(option->get_name());
  for (const auto& text : arguments) {
    const auto flag = text.substr(0, text.find('='));
    const bool unknown = std::find(known.begin(), known.end(), flag) == known.end();
    if (!flag.starts_with("--") || flag == "--help" || !unknown) continue;
    return full_name(at) + " has no flag " + flag + config::suggestion(flag, known);
  }
  return error.what();
}

}  // namespace

std::string full_name(const CLI::App& app) {
  const auto* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
}

std::string help_of(const CLI::App& app) {
  // App::help() would explain the parsed subcommand, `help` itself, instead of the app.
  return app.get_formatter()->make_help(&app, full_name(app), CLI::AppFormatMode::Normal);
}

program::program() : app_("A cluster orchestrator built as a system of actors.", "troupe") {
  app_.formatter(std::make_shared<help_formatter>());
  app_.require_subcommand(0, 1);
  app_.set_help_flag("-h,--help", "Shows this.");
}

CLI::App& program::add(std::string name, std::string about, action run) {
  return add(app_, std::move(name), std::move(about), std::move(run));
}

CLI::App& program::add(CLI::App& parent, std::string name, std::string about, action run) {
  auto* result = parent.add_subcommand(std::move(name), std::move(about));
  result->require_subcommand(0, 1);
  result->final_callback([this, run = std::move(run)] {
    if (!chosen_) chosen_ = run;
  });
  return *result;
}

CLI::App& program::add_group(const std::string& name, std::string about) {
  return add(name, std::move(about), [this, name] {
    const auto& group = *app_.get_subcommand(name);
    return fail_with(
        "expected a subcommand: " + alternatives(group) + "; see " + full_name(group) + " --help",
        exit_code::usage);
  });
}

void program::version(std::string text) {
  app_.set_version_flag("--version", std::move(text), "Shows the version.");
}

int program::run(int argc, const char* const* argv) {
  const auto code = choose(argc, argv);
  // For example on a full disk: the output is lost, and with it perhaps a token.
  if (std::cout.flush() && std::fflush(stdout) == 0) return code;
  std::cerr << "troupe: the output cannot be written\n";
  return code == exit_code::done ? exit_code::failed : code;
}

int fail_with(std::string_view problem, int code) {
  std::cerr << "troupe: " << problem << "\n";
  return code;
}

int exit_code_of(const tl::expected<void, std::string>& done) {
  return done ? exit_code::done : fail_with(done.error());
}

int program::choose(int argc, const char* const* argv) {
  const auto arguments = reversed(argc, argv);
  try {
    app_.parse(std::vector(arguments));
  } catch (const CLI::CallForHelp&) {
    std::cout << help_of(innermost(app_));
    return exit_code::done;
  } catch (const CLI::CallForVersion& version) {
    std::cout << version.what() << "\n";
    return exit_code::done;
  } catch (const CLI::ParseError& e) {
    const auto& at = innermost(app_);
    return fail_with(error_text(e, at, arguments) + "; see " + full_name(at) + " --help",
                     exit_code::usage);
  }
  if (chosen_) return chosen_();
  std::cout << help_of(app_);
  return exit_code::done;
}

}  // namespace troupe::tools

#include "tools/console.hpp"

#include <unistd.h>

#include <csignal>
#include <iostream>
#include <set>
#include <sstream>

#include "tools/console_command.hpp"
#include "tools/console_screen.hpp"
#include "tools/defaults.hpp"
#include "tools/program.hpp"

namespace troupe::tools {

namespace {

volatile std::sig_atomic_t interrupted = 0;
struct sigaction before_watch {};

void on_interrupt(int) {
  interrupted = 1;
}

int failed(const std::string& why) {
  std::cerr << "troupe: " << why << std::endl;
  return exit_code::failed;
}

}  // namespace

interrupt_watch::interrupt_watch() {
  interrupted = 0;
  struct sigaction action {};
  action.sa_handler = on_interrupt;  // without SA_RESTART: a read in progress ends
  ::sigaction(SIGINT, &action, &before_watch);
}

interrupt_watch::~interrupt_watch() {
  ::sigaction(SIGINT, &before_watch, nullptr);
}

bool interrupt_watch::seen() noexcept {
  return interrupted != 0;
}

int console_session::run(const std::string& line, bool live) {
  const auto words = console_words(line);
  if (!words.empty() && words.front() == "help") {
    std::cout << console_help(words.size() > 1 ? words[1] : "");
    return exit_code::done;
  }
  auto parsed = parse_console_line(line, options_.may_change);
  if (!parsed) {
    std::cerr << "troupe: " << parsed.error() << std::endl;
    return exit_code::usage;
  }
  if (parsed->command == nullptr) return exit_code::done;
  auto& request = parsed->request;
  request.query["as"] = options_.output;
  if (takes_node(*parsed->command)) request = on_node(std::move(request));
  if (parsed->command->name == "top") return run_top(request, live);
  if (parsed->command->name == "trace") return run_trace(request);
  const auto answer = node_.ask(request);
  if (!answer) return failed(answer.error());
  std::cout << *answer << std::flush;
  return exit_code::done;
}

console_request console_session::on_node(console_request what) const {
  if (!options_.node.empty()) what.query.try_emplace("node", options_.node);
  return what;
}

tl::expected<std::string, std::string> console_session::names(const std::string& begin,
                                                              bool of_objects) {
  console_request what{
      "names", {{"prefix", begin}, {"of", of_objects ? "objects" : "actors"}}, false};
  return node_.ask(of_objects ? what : on_node(std::move(what)));
}

// Rates need two looks: where it is not live the second one counts.
int console_session::run_top(const console_request& request, bool live) {
  const interrupt_watch watch;
  live_screen screen{live && options_.output == "text"};
  for (int looks = 0;; ++looks) {
    const auto answer = node_.ask(request);
    if (!answer) return failed(answer.error());
    if (screen.live()) {
      screen.draw(*answer);
    } else if (looks == 1) {
      std::cout << *answer << std::flush;
      return exit_code::done;
    }
    if (screen.wait_for_key(defaults::console_refresh) == 'q' || interrupt_watch::seen())
      return exit_code::done;
  }
}

int console_session::run_trace(const console_request& what) {
  const interrupt_watch watch;
  const auto ended = node_.follow(what, [](std::string_view part) {
    if (interrupt_watch::seen()) return false;
    if (part != "\n") std::cout << part << std::flush;
    return std::cout.good() && !interrupt_watch::seen();
  });
  if (interrupt_watch::seen()) {
    // The terminal has shown ^C.
    if (::isatty(STDOUT_FILENO) != 0) std::cout << std::endl;
    return exit_code::done;
  }
  return ended ? exit_code::done : failed(ended.error());
}

bool console_session::print_new_warnings() {
  const auto answer = node_.ask(on_node({"warnings", {{"as", "text"}}, false}));
  if (!answer || *answer == warnings_) return false;
  std::istringstream before{std::exchange(warnings_, *answer)};
  std::set<std::string> known{"nothing"};
  for (std::string line; std::getline(before, line);)
    known.insert(line);
  std::istringstream now{*answer};
  std::string heading;
  bool any = false;
  for (std::string line; std::getline(now, line);) {
    if (heading.empty()) {
      heading = line;
    } else if (known.count(line) == 0) {
      std::cerr << (any ? "! " : "\r\033[K! ") << line << std::endl;
      any = true;
    }
  }
  return any;
}

}  // namespace troupe::tools

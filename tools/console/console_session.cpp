#include "tools/console/console_session.hpp"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <future>
#include <iostream>
#include <set>
#include <sstream>

#include "tools/command_line/program.hpp"
#include "tools/console/console_command.hpp"
#include "tools/console/console_screen.hpp"
#include "tools/defaults.hpp"

namespace troupe::tools {

namespace {

std::atomic<bool> interrupted{false};
int watches = 0;
struct sigaction before_watch {};

void on_interrupt(int) {
  interrupted = true;
}

// Runs `question` on a thread of its own, so that this one can cancel it.
template <class F>
auto answer_of(console_client& node, F question, const std::function<bool()>& is_cancelled) {
  auto answer = std::async(std::launch::async, std::move(question));
  while (answer.wait_for(defaults::cancel_poll_period) != std::future_status::ready)
    if (is_cancelled()) node.cancel();
  return answer.get();
}

// A background request must not keep the prompt waiting.
std::function<bool()> patience_limit() {
  return [until = std::chrono::steady_clock::now() + defaults::console_background_limit] {
    return interrupt_watch::seen() || std::chrono::steady_clock::now() > until;
  };
}

bool key_waits() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) > 0;
}

// Ends a command after Ctrl-C, for which the terminal has printed ^C.
int end_interrupted() {
  if (::isatty(STDOUT_FILENO) != 0) std::cout << std::endl;
  return exit_code::done;
}

int failed(const std::string& message) {
  std::cerr << "troupe: " << message << std::endl;
  return exit_code::failed;
}

// The subject of a warning. A warning is printed once while it lasts, although its figures
// change.
std::string subject_of(const std::string& line) {
  std::istringstream words{line};
  std::string warning, subject;
  words >> warning >> subject;
  return subject.empty() ? warning : warning + ' ' + subject;
}

int wrong(const std::string& message) {
  std::cerr << "troupe: " << message << std::endl;
  return exit_code::usage;
}

}  // namespace

interrupt_watch::interrupt_watch() {
  if (watches++ > 0) return;
  forget();
  struct sigaction action {};
  action.sa_handler = on_interrupt;  // without SA_RESTART: a read in progress ends
  ::sigaction(SIGINT, &action, &before_watch);
}

interrupt_watch::~interrupt_watch() {
  if (--watches == 0) ::sigaction(SIGINT, &before_watch, nullptr);
}

bool interrupt_watch::seen() noexcept {
  return interrupted;
}

void interrupt_watch::forget() noexcept {
  interrupted = false;
}

int console_session::run(const std::string& line, bool live) {
  const auto words = console_words(line);
  if (!words.empty() && words.front() == "help") {
    const auto text = console_help(words.size() > 1 ? words[1] : "");
    if (!text) return wrong(text.error());
    std::cout << *text;
    return exit_code::done;
  }
  auto parsed = parse_console_line(line, options_.allow_control);
  if (!parsed) return wrong(parsed.error());
  if (parsed->command == nullptr) return exit_code::done;
  auto& request = parsed->request;
  request.query["as"] = options_.output;
  if (takes_node(*parsed->command)) request = on_node(std::move(request));
  if (parsed->command->name == "top") return run_top(request, live);
  if (parsed->command->name == "trace") return run_trace(request);
  const auto answer = ask(request, interrupt_watch::seen);
  if (interrupt_watch::seen()) return end_interrupted();
  if (!answer) return failed(answer.error());
  std::cout << *answer << std::flush;
  return exit_code::done;
}

console_session::answer console_session::ask(const console_request& request,
                                             const std::function<bool()>& is_cancelled) {
  return answer_of(
      node_, [&] { return node_.ask(request); }, is_cancelled);
}

console_request console_session::on_node(console_request request) const {
  if (!options_.node.empty()) request.query.try_emplace("node", options_.node);
  return request;
}

tl::expected<std::string, std::string> console_session::names(const std::string& prefix,
                                                              bool of_objects) {
  console_request request{
      "names", {{"prefix", prefix}, {"of", of_objects ? "objects" : "actors"}}, false};
  return ask(of_objects ? request : on_node(std::move(request)), patience_limit());
}

// Rates need two samples: if the view is not live, only the second one is printed.
int console_session::run_top(const console_request& request, bool live) {
  const interrupt_watch watch;
  live_screen screen{live && options_.output == "text"};
  for (int looks = 0;; ++looks) {
    const auto answer = ask(request, interrupt_watch::seen);
    if (interrupt_watch::seen()) return exit_code::done;
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

int console_session::run_trace(const console_request& request) {
  const interrupt_watch watch;
  const auto show = [](std::string_view part) {
    if (interrupt_watch::seen()) return false;
    if (part != "\n") std::cout << part << std::flush;
    return std::cout.good() && !interrupt_watch::seen();
  };
  const auto ended = answer_of(
      node_, [&] { return node_.follow(request, show); }, interrupt_watch::seen);
  if (interrupt_watch::seen()) return end_interrupted();
  return ended ? exit_code::done : failed(ended.error());
}

bool console_session::print_new_warnings() {
  const auto answer = ask(on_node({"warnings", {{"as", "text"}}, false}),
                          [enough = patience_limit()] { return key_waits() || enough(); });
  if (!answer || *answer == warnings_) return false;
  std::istringstream before{std::exchange(warnings_, *answer)};
  std::set<std::string> known{"nothing"};
  for (std::string line; std::getline(before, line);)
    known.insert(subject_of(line));
  std::istringstream now{*answer};
  std::string heading;
  bool any = false;
  for (std::string line; std::getline(now, line);) {
    if (heading.empty()) {
      heading = line;
    } else if (known.count(subject_of(line)) == 0) {
      std::cerr << (any ? "! " : "\r\033[K! ") << line << std::endl;
      any = true;
    }
  }
  return any;
}

}  // namespace troupe::tools

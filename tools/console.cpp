#include "tools/console.hpp"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <future>
#include <iostream>
#include <set>
#include <sstream>

#include "tools/console_command.hpp"
#include "tools/console_screen.hpp"
#include "tools/defaults.hpp"
#include "tools/program.hpp"

namespace troupe::tools {

namespace {

std::atomic<bool> interrupted{false};
int watches = 0;
struct sigaction before_watch {};

void on_interrupt(int) {
  interrupted = true;
}

// Runs `question` on a thread of its own, so that this one sees when somebody has had enough.
template <class F>
auto answer_of(console_client& node, F question, const std::function<bool()>& give_up) {
  auto answer = std::async(std::launch::async, std::move(question));
  while (answer.wait_for(defaults::console_look) != std::future_status::ready)
    if (give_up()) node.cut_off();
  return answer.get();
}

// What nobody has asked for in so many words keeps nobody waiting.
std::function<bool()> out_of_patience() {
  return [until = std::chrono::steady_clock::now() + defaults::console_patience] {
    return interrupt_watch::seen() || std::chrono::steady_clock::now() > until;
  };
}

bool key_waits() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) > 0;
}

// The terminal has shown ^C.
int cut_short() {
  if (::isatty(STDOUT_FILENO) != 0) std::cout << std::endl;
  return exit_code::done;
}

int failed(const std::string& why) {
  std::cerr << "troupe: " << why << std::endl;
  return exit_code::failed;
}

// What is warned of, and about whom: a warning is told once for as long as it stands, though its
// figures change.
std::string subject_of(const std::string& line) {
  std::istringstream words{line};
  std::string what, about;
  words >> what >> about;
  return about.empty() ? what : what + ' ' + about;
}

int wrong(const std::string& why) {
  std::cerr << "troupe: " << why << std::endl;
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
  auto parsed = parse_console_line(line, options_.may_change);
  if (!parsed) return wrong(parsed.error());
  if (parsed->command == nullptr) return exit_code::done;
  auto& request = parsed->request;
  request.query["as"] = options_.output;
  if (takes_node(*parsed->command)) request = on_node(std::move(request));
  if (parsed->command->name == "top") return run_top(request, live);
  if (parsed->command->name == "trace") return run_trace(request);
  const auto answer = ask(request, interrupt_watch::seen);
  if (interrupt_watch::seen()) return cut_short();
  if (!answer) return failed(answer.error());
  std::cout << *answer << std::flush;
  return exit_code::done;
}

console_session::answer console_session::ask(const console_request& what,
                                             const std::function<bool()>& give_up) {
  return answer_of(
      node_, [&] { return node_.ask(what); }, give_up);
}

console_request console_session::on_node(console_request what) const {
  if (!options_.node.empty()) what.query.try_emplace("node", options_.node);
  return what;
}

tl::expected<std::string, std::string> console_session::names(const std::string& begin,
                                                              bool of_objects) {
  console_request what{
      "names", {{"prefix", begin}, {"of", of_objects ? "objects" : "actors"}}, false};
  return ask(of_objects ? what : on_node(std::move(what)), out_of_patience());
}

// Rates need two looks: where it is not live the second one counts.
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

int console_session::run_trace(const console_request& what) {
  const interrupt_watch watch;
  const auto show = [](std::string_view part) {
    if (interrupt_watch::seen()) return false;
    if (part != "\n") std::cout << part << std::flush;
    return std::cout.good() && !interrupt_watch::seen();
  };
  const auto ended = answer_of(
      node_, [&] { return node_.follow(what, show); }, interrupt_watch::seen);
  if (interrupt_watch::seen()) return cut_short();
  return ended ? exit_code::done : failed(ended.error());
}

bool console_session::print_new_warnings() {
  const auto answer = ask(on_node({"warnings", {{"as", "text"}}, false}),
                          [enough = out_of_patience()] { return key_waits() || enough(); });
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

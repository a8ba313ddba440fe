#include "tools/browser.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace troupe::tools::test {

namespace {

constexpr int patience_ms = 90'000;

std::string json_string(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

// The text of the first member with that name.
std::string member(const std::string& json, const std::string& name) {
  const auto begin = json.find("\"" + name + "\":\"");
  if (begin == std::string::npos) return {};
  const auto from = begin + name.size() + 4;
  return json.substr(from, json.find('"', from) - from);
}

}  // namespace

std::string browser::program() {
  for (const char* path : {"/usr/bin/chromium", "/usr/bin/chromium-browser"})
    if (::access(path, X_OK) == 0) return path;
  return {};
}

browser::browser() {
  std::array<int, 2> down{};
  std::array<int, 2> up{};
  if (::pipe(down.data()) != 0 || ::pipe(up.data()) != 0) throw std::runtime_error("pipe");
  id_ = ::fork();
  if (id_ < 0) throw std::runtime_error("fork");
  if (id_ == 0) {
    ::setpgid(0, 0);
    // It reads commands from descriptor 3 and writes responses to 4.
    const int in = ::fcntl(down[0], F_DUPFD, 10);
    const int out = ::fcntl(up[1], F_DUPFD, 10);
    ::dup2(in, 3);
    ::dup2(out, 4);
    const int nowhere = ::open("/dev/null", O_RDWR);
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
    const auto profile = "--user-data-dir=" + profile_.path().string();
    const auto path = program();
    ::execl(path.c_str(), "chromium", "--headless", "--no-sandbox", "--disable-gpu",
            "--disable-dev-shm-usage", "--no-first-run", "--ignore-certificate-errors",
            "--remote-debugging-pipe", "--window-size=1280,800", profile.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(down[0]);
  ::close(up[1]);
  to_ = down[1];
  from_ = up[0];
  const auto target = member(call("Target.createTarget", R"({"url":"about:blank"})"), "targetId");
  session_ = member(
      call("Target.attachToTarget", R"({"flatten":true,"targetId":)" + json_string(target) + "}"),
      "sessionId");
  if (session_.empty()) throw std::runtime_error("the browser has no page");
}

browser::~browser() {
  ::close(to_);
  ::close(from_);
  ::kill(-id_, SIGKILL);
  ::waitpid(id_, nullptr, 0);
}

std::string browser::read_message() {
  for (;;) {
    const auto end = unread_.find('\0');
    if (end != std::string::npos) {
      auto message = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return message;
    }
    pollfd ready{from_, POLLIN, 0};
    if (::poll(&ready, 1, patience_ms) <= 0) throw std::runtime_error("the browser is silent");
    std::array<char, 65'536> bytes{};
    const auto count = ::read(from_, bytes.data(), bytes.size());
    if (count <= 0) throw std::runtime_error("the browser has ended");
    unread_.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

std::string browser::call(const std::string& method, const std::string& parameters) {
  const auto id = std::to_string(++last_id_);
  auto message =
      "{\"id\":" + id + ",\"method\":" + json_string(method) + ",\"params\":" + parameters;
  if (!session_.empty()) message += ",\"sessionId\":" + json_string(session_);
  message += "}";
  message.push_back('\0');
  if (::write(to_, message.data(), message.size()) != static_cast<ssize_t>(message.size()))
    throw std::runtime_error("the browser does not listen");
  for (;;) {
    auto answer = read_message();
    if (answer.starts_with("{\"id\":" + id + ",")) return answer;
  }
}

void browser::open(const std::string& url) {
  call("Page.navigate", "{\"url\":" + json_string(url) + "}");
}

std::string browser::evaluate(const std::string& expression) {
  return call("Runtime.evaluate", R"({"awaitPromise":true,"returnByValue":true,"expression":)" +
                                      json_string(expression) + "}");
}

bool browser::holds(const std::string& expression) {
  return evaluate(expression).find("\"value\":true") != std::string::npos;
}

double browser::number(const std::string& expression) {
  const auto answer = evaluate(expression);
  constexpr std::string_view before = "\"value\":";
  const auto at = answer.find(before);
  if (at == std::string::npos) throw std::runtime_error("no number: " + answer);
  return std::strtod(answer.c_str() + at + before.size(), nullptr);
}

bool browser::comes_to_hold(const std::string& expression) {
  return holds("(async () => { for (let i = 0; i < 600; ++i) { try { if (" + expression +
               ") return true; } catch (e) {} await new Promise((r) => setTimeout(r, 100)); } "
               "return false; })()");
}

std::string browser::screenshot() {
  return member(call("Page.captureScreenshot", R"({"format":"png"})"), "data");
}

}  // namespace troupe::tools::test

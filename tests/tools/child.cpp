#include "tools/child.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <stdexcept>

#include "build_paths.hpp"
#include "support/skip.hpp"

namespace troupe::tools::test {

namespace {

constexpr int patience_ms = 90'000;

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

bool can_fork_with_threads() {
#ifdef TROUPE_TSAN
  troupe::test::skip(
      "ThreadSanitizer does not support threads in a fork of a process that had some");
  return false;
#else
  return true;
#endif
}

child::child(const std::function<int()>& body) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (::pipe(out.data()) != 0 || ::pipe(err.data()) != 0) throw std::runtime_error("pipe");
  std::cout.flush();  // otherwise both processes would write the buffered text
  id_ = ::fork();
  if (id_ < 0) throw std::runtime_error("fork");
  if (id_ == 0) {
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    for (const int fd : {out[0], out[1], err[0], err[1]})
      ::close(fd);
    ::_exit(body());
  }
  ::close(out[1]);
  ::close(err[1]);
  out_.fd = out[0];
  err_.fd = err[0];
}

child::~child() {
  if (id_ > 0) {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  for (const auto* each : {&out_, &err_}) {
    if (each->fd >= 0) ::close(each->fd);
  }
}

bool child::read_some() {
  std::array<pollfd, 2> ready{{{out_.fd, POLLIN, 0}, {err_.fd, POLLIN, 0}}};
  if (out_.fd < 0 && err_.fd < 0) return false;
  if (::poll(ready.data(), ready.size(), patience_ms) <= 0) return false;
  for (auto* each : {&out_, &err_}) {
    if (ready[each == &out_ ? 0 : 1].revents == 0) continue;
    std::array<char, 4096> bytes{};
    const auto count = ::read(each->fd, bytes.data(), bytes.size());
    if (count > 0) {
      each->text.append(bytes.data(), static_cast<std::size_t>(count));
    } else {
      ::close(each->fd);
      each->fd = -1;
    }
  }
  return true;
}

bool child::says(const std::string& text) {
  while (out_.text.find(text) == std::string::npos) {
    if (!read_some()) return false;
  }
  return true;
}

void child::signal(int number) const {
  ::kill(id_, number);
}

int child::wait() {
  while (read_some()) {
  }
  if (out_.fd >= 0 || err_.fd >= 0) ::kill(id_, SIGKILL);
  int status = 0;
  ::waitpid(id_, &status, 0);
  id_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

process_result run(const std::vector<std::string>& command, std::vector<std::string> environment) {
  child process([&] {
    auto arguments = command;
    environment.push_back("PATH=/usr/bin:/bin");
    for (const char* each : {"TSAN_OPTIONS", "LSAN_OPTIONS"})
      if (const auto* value = std::getenv(each))
        environment.push_back(std::string{each} + "=" + value);
    ::execve(command.front().c_str(), pointers(arguments).data(), pointers(environment).data());
    return 127;
  });
  const int code = process.wait();
  return {code, process.out(), process.err()};
}

process_result program(std::vector<std::string> arguments, std::vector<std::string> environment) {
  arguments.insert(arguments.begin(), TROUPE_BINARY_DIR "/troupe");
  return run(arguments, std::move(environment));
}

std::chrono::milliseconds promised(std::chrono::milliseconds time) {
  const auto begin = std::chrono::steady_clock::now();
  program({"version"});
  return time + 20 * std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                                  begin);
}

}  // namespace troupe::tools::test

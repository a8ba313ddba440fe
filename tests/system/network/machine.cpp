#include "system/network/machine.hpp"

#include <stdexcept>

#include "build_paths.hpp"
#include "system/kubectl.hpp"
#include "system/node.hpp"

namespace troupe::test {
namespace {

constexpr std::chrono::milliseconds ready_limit{60'000};
constexpr std::chrono::milliseconds end_limit{60'000};

}  // namespace

machine::machine(virtual_switch& network, virtual_switch::port number,
                 const std::filesystem::path& folder)
    : number_{number},
      folder_{folder / ("m" + std::to_string(number))},
      path_{TROUPE_BINARY_DIR "/troupe"} {
  std::filesystem::create_directories(folder_ / "bin");
  std::filesystem::create_symlink(TROUPE_BINARY_DIR "/troupe", folder_ / "bin/troupe");
  network.plug(space_, number);
}

machine::~machine() {
  program_.reset();
}

void machine::start(const std::vector<std::string>& words) {
  words_ = words;
  program_.reset();
  auto command = space_.wrapper();
  if (clock_)
    command.insert(command.end(), {"env", "LD_PRELOAD=" TROUPE_BINARY_DIR "/skewed_clock.so",
                                   "SKEW_FILE=" + (folder_ / "clock").string()});
  command.push_back(path_);
  command.insert(command.end(), words.begin(), words.end());
  command.insert(command.end(), {"--data-dir", data()});
  program_ = std::make_unique<process>(std::move(command), folder_ / "log");
  const auto line = program_->read_line(ready_limit);
  if (!line.starts_with("ready ") && !line.starts_with("joined ")) {
    program_->signal(SIGKILL);
    throw std::runtime_error{name() + " is not ready: " + line + "\n" + last_part(log())};
  }
}

void machine::restart() {
  start(std::vector<std::string>{words_});
}

void machine::clock_skew(std::chrono::seconds skew) {
  if (!clock_) clock_ = std::make_unique<clock_file>(folder_ / "clock");
  clock_->skew(skew);
}

void machine::kill() {
  program_->signal(SIGKILL);
  if (!program_->wait(end_limit)) throw std::runtime_error{name() + " survives SIGKILL"};
}

int machine::end() {
  program_->signal(SIGTERM);
  const auto code = program_->wait(end_limit);
  if (!code) throw std::runtime_error{name() + " does not end"};
  return *code;
}

std::string machine::log() const {
  return read_file(folder_ / "log");
}

process_result machine::run(const std::string& command) const {
  write_file(folder_ / "command.sh", command + "\n");
  process_result out{};
  space_.run([&] {
    out = shell("cd " + folder_.string() +
                " && HOME=$PWD PATH=$PWD/bin:$PATH timeout 180 bash command.sh >output 2>&1 "
                "</dev/null");
  });
  out.output = read_file(folder_ / "output");
  return out;
}

}  // namespace troupe::test

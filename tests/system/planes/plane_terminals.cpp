#include "system/planes/plane_terminals.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "build_paths.hpp"
#include "system/kubectl.hpp"
#include "system/node.hpp"
#include "system/transcript.hpp"

namespace troupe::test {

namespace {

constexpr std::string_view rest_of_line = "…";
constexpr std::chrono::milliseconds job_line_limit{120'000}, job_end_limit{60'000};
// How long a command that only reads is repeated until its output is the expected one.
constexpr std::chrono::milliseconds repeat_limit{120'000};

std::vector<std::string> lines_of_document() {
  std::istringstream text{read_file(TROUPE_SOURCE_DIR "/docs/several-control-planes.md")};
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);)
    lines.push_back(line);
  return lines;
}

// The block of code whose first line begins with "# NAME:".
std::string file_in_document(const std::string& name) {
  const auto lines = lines_of_document();
  auto line = std::find_if(lines.begin(), lines.end(), [&](const std::string& each) {
    return each.starts_with("# " + name + ":");
  });
  std::string text;
  for (; line != lines.end() && *line != "```"; ++line)
    text += *line + "\n";
  if (text.empty()) throw std::runtime_error{"the document has no " + name};
  return text;
}

// Names of objects and ages vary.
std::string expression_of(const std::string& line) {
  auto out = std::regex_replace(line, std::regex{R"([.(){}\[\]?*+|^$\\])"}, R"(\$&)");
  out = std::regex_replace(out, std::regex{std::string{rest_of_line}}, ".*");
  out = std::regex_replace(out, std::regex{"load-[0-9]+"}, "load-[0-9]+");
  out = std::regex_replace(out, std::regex{R"(\b[0-9]+[smh]\b)"}, "[0-9smh]+");
  return "~ " + std::regex_replace(out, std::regex{"  +"}, " +");
}

std::vector<std::string> expressions_of(const std::vector<std::string>& lines) {
  std::vector<std::string> all;
  for (const auto& each : lines)
    all.push_back(expression_of(each));
  return all;
}

std::string difference(const std::string& command, const std::vector<std::string>& expected,
                       const std::string& output) {
  const auto problem = mismatch(expressions_of(expected), output);
  return problem.empty() ? "" : "$ " + command + "\n" + output + "--- " + problem;
}

// For the document.
void show(virtual_switch::port number, const std::string& command, const std::string& output) {
  std::cout << "m" << number << "$ " << command << "\n" << output << std::flush;
}

bool only_reads(const std::string& command) {
  return command.starts_with("kubectl get") || command.starts_with("tail") ||
         command.starts_with("troupe etcd members");
}

}  // namespace

plane_terminals::plane_terminals(virtual_switch::port count) {
  const auto load = file_in_document("load.sh");
  const auto client = kubectls().back().path;
  for (virtual_switch::port number = 1; number <= count; ++number) {
    machines_.push_back(std::make_unique<machine>(network_, number, folder()));
    std::filesystem::create_symlink(client, folder_of(number) / "bin/kubectl");
    write_file(folder_of(number) / "load.sh", load);
  }
}

plane_terminals::~plane_terminals() {
  for (const auto& [number, jobs] : jobs_)
    for (const auto& each : jobs)
      if (each) each->signal(SIGKILL);
}

std::filesystem::path plane_terminals::folder_of(virtual_switch::port number) const {
  return machines_.at(number - 1)->data().parent_path();
}

std::string plane_terminals::logs() const {
  std::string text;
  for (virtual_switch::port number = 1; number <= machines_.size(); ++number)
    for (const auto* name : {"etcd.log", "node.log", "load.log"})
      if (const auto file = folder_of(number) / name; std::filesystem::exists(file))
        text += file.string() + ":\n" + last_part(read_file(file)) + "\n";
  return text;
}

// -- the document ---------------------------------------------------------------------------------

std::vector<plane_terminals::typed> plane_terminals::commands_of(const std::string& section) {
  static const std::regex prompt{R"((?:m([1-4]))?\$ (.*))"};
  std::vector<typed> all;
  bool here = false, inside = false;
  for (const auto& line : lines_of_document()) {
    if (line.starts_with("## ") || line.starts_with("### ")) here = line == section;
    if (!here) continue;
    if (line.starts_with("```")) {
      inside = line == "```console";
      continue;
    }
    if (!inside) continue;
    if (std::smatch parts; std::regex_match(line, parts, prompt)) {
      const auto number = parts[1].matched ? std::stoul(parts[1].str()) : 0UL;
      all.push_back({static_cast<virtual_switch::port>(number), parts[2].str(), {}});
    } else if (!all.empty() && all.back().command.ends_with('\\')) {
      all.back().command.pop_back();
      all.back().command += line.substr(std::min(line.find_first_not_of(' '), line.size()));
    } else if (!all.empty()) {
      all.back().output.push_back(line);
    }
  }
  if (all.empty()) throw std::runtime_error{"the document has no commands in " + section};
  return all;
}

std::string plane_terminals::play(const std::string& section) {
  for (const auto& each : commands_of(section)) {
    const auto problem = each.number == 0 ? type_outside(each.command)
                                          : type(each.number, each.command, each.output);
    if (!problem.empty()) return problem;
  }
  return {};
}

// -- commands -------------------------------------------------------------------------------------

std::string plane_terminals::complete(virtual_switch::port number,
                                      const std::string& command) const {
  const auto gap = command.find(rest_of_line);
  if (gap == std::string::npos) return command;
  const auto begin = command.substr(0, gap);
  const auto begins = [&](const std::string& each) { return each.starts_with(begin); };
  const auto after = command.substr(gap + rest_of_line.size());
  if (const auto line = std::find_if(printed_.rbegin(), printed_.rend(), begins);
      line != printed_.rend())
    return *line + after;
  if (const auto own = typed_.find(number); own != typed_.end())
    if (const auto line = std::find_if(own->second.rbegin(), own->second.rend(), begins);
        line != own->second.rend())
      return *line + after;
  throw std::runtime_error{"no line begins with " + begin};
}

std::string plane_terminals::type(virtual_switch::port number, const std::string& typed_text,
                                  const std::vector<std::string>& expected) {
  static const std::regex killing{R"(kill (-9 )?%([0-9]+|\+))"};
  const auto command = complete(number, typed_text);
  if (std::smatch parts; std::regex_match(command, parts, killing))
    return kill(number, parts[2] == "+" ? jobs_[number].size() : std::stoul(parts[2].str()),
                parts[1].matched ? SIGKILL : SIGTERM);
  if (command.starts_with("export ")) {
    exports_[number] += command + "; ";
    return {};
  }
  if (command.ends_with(" &"))
    return start(number, command.substr(0, command.size() - 2), expected);
  return run(number, command, expected);
}

std::string plane_terminals::run(virtual_switch::port number, const std::string& command,
                                 const std::vector<std::string>& expected) {
  const auto deadline = std::chrono::steady_clock::now() + repeat_limit;
  for (;;) {
    const auto got = at(number).run(exports_[number] + command);
    const auto problem = difference(command, expected, got.output);
    if (problem.empty() && got.code == 0) {
      show(number, command, got.output);
      std::istringstream output{got.output};
      for (std::string line; std::getline(output, line);)
        printed_.push_back(line);
      return {};
    }
    if (!only_reads(command) || std::chrono::steady_clock::now() > deadline)
      return problem.empty() ? "$ " + command + "\n--- it fails" : problem;
  }
}

std::string plane_terminals::start(virtual_switch::port number, const std::string& command,
                                   const std::vector<std::string>& expected) {
  typed_[number].push_back(command);
  auto words = at(number).space().wrapper();
  words.insert(words.end(),
               {"bash", "-c",
                "cd " + folder_of(number).string() + "; export HOME=$PWD PATH=$PWD/bin:$PATH; " +
                    exports_[number] + "exec " + command});
  auto& jobs = jobs_[number];
  jobs.push_back(std::make_unique<process>(std::move(words), folder_of(number) / "log"));
  std::string output;
  for (std::size_t i = 0; i < expected.size(); ++i)
    output += jobs.back()->read_line(job_line_limit) + "\n";
  show(number, command + " &", output);
  return difference(command, expected, output);
}

std::string plane_terminals::kill(virtual_switch::port number, std::size_t job, int signal) {
  auto& jobs = jobs_[number];
  auto& ended = jobs.at(job - 1);
  ended->signal(signal);
  if (!ended->wait(job_end_limit)) return "job " + std::to_string(job) + " does not end";
  ended.reset();
  // A shell gives the next job the number after the highest one.
  while (!jobs.empty() && !jobs.back())
    jobs.pop_back();
  return {};
}

// The switch of the test takes the place of the bridge: it drops the machine's frames, so that
// the others receive nothing more from it, as after a loss of power.
std::string plane_terminals::type_outside(const std::string& command) {
  static const std::regex cut{"ip -n m([1-3]) link set net0 down"},
      killing{R"(ip netns pids m([1-3]) \| xargs kill -9)"};
  std::smatch parts;
  if (std::regex_match(command, parts, cut)) {
    network_.isolate(static_cast<virtual_switch::port>(std::stoul(parts[1].str())));
    return {};
  }
  if (!std::regex_match(command, parts, killing)) return command + ": the test does not know it";
  for (const auto each :
       at(static_cast<virtual_switch::port>(std::stoul(parts[1].str()))).space().processes())
    ::kill(each, SIGKILL);
  return {};
}

}  // namespace troupe::test

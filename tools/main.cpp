#include <algorithm>
#include <cstdio>
#include <exception>
#include <iterator>
#include <vector>

#include "actors/kubelet/container_programs.hpp"
#include "tools/commands.hpp"
#include "tools/program.hpp"
#include "tools/secret_arguments.hpp"

int main(int argc, char** argv) {
  // The kubelet starts this program again for each container; no command line is parsed for that.
  if (const auto done = troupe::actors::run_container_program(argc, argv)) return *done;
  const auto arguments = troupe::tools::take_secrets(argc, argv);
  std::vector<const char*> texts;
  std::transform(arguments.begin(), arguments.end(), std::back_inserter(texts),
                 [](const auto& text) { return text.c_str(); });
  try {
    troupe::tools::program program;
    troupe::tools::add_commands(program);
    return program.run(argc, texts.data());
  } catch (const std::exception& e) {  // the machine gives no thread, memory or descriptor
    std::fprintf(stderr, "troupe: %s\n", e.what());
    return troupe::tools::exit_code::failed;
  }
}

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <system_error>
#include <vector>

#include "actors/kubelet/runtimes/process/container_programs.hpp"
#include "tools/command_line/program.hpp"
#include "tools/command_line/secret_arguments.hpp"
#include "tools/commands/commands.hpp"

namespace {

// Reports in one line that the system refused memory or a thread which the program needs.
// Any other exception is a bug and keeps its diagnostics.
[[noreturn]] void report_and_exit() noexcept {
  const auto say = [](const char* reason) {
    for (const char* each :
         {"troupe: ", reason, "; the program ends, acknowledged writes are kept\n"})
      static_cast<void>(!::write(STDERR_FILENO, each, std::strlen(each)));
    ::_exit(troupe::tools::exit_code::failed);
  };
  try {
    if (const auto problem = std::current_exception()) std::rethrow_exception(problem);
  } catch (const std::bad_alloc&) {
    say("out of memory");
  } catch (const std::system_error& e) {
    say(e.what());
  } catch (...) {  // as std::terminate: its name and text, and SIGABRT
    __gnu_cxx::__verbose_terminate_handler();
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  // The kubelet starts this program again for each container; no command line is parsed for that.
  if (const auto done = troupe::actors::run_container_program(argc, argv)) return *done;
  std::set_terminate(report_and_exit);
  const auto arguments = troupe::tools::take_secrets(argc, argv);
  std::vector<const char*> texts;
  std::transform(arguments.begin(), arguments.end(), std::back_inserter(texts),
                 [](const auto& text) { return text.c_str(); });
  try {
    troupe::tools::program program;
    troupe::tools::add_commands(program, argc > 1 ? texts[1] : "");
    return program.run(argc, texts.data());
  } catch (const std::exception& e) {  // the system refused a thread, memory or descriptor
    std::fprintf(stderr, "troupe: %s\n", e.what());
    return troupe::tools::exit_code::failed;
  }
}

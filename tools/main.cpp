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

#include "actors/kubelet/container_programs.hpp"
#include "tools/commands.hpp"
#include "tools/program.hpp"
#include "tools/secret_arguments.hpp"

namespace {

// Without memory, or a thread, where nothing could go on without: said in one line. Whatever else
// nobody caught is a mistake of ours, and leaves its trace.
[[noreturn]] void end_in_words() noexcept {
  const auto say = [](const char* why) {
    for (const char* each : {"troupe: ", why, "; the program ends, nothing acknowledged is lost\n"})
      static_cast<void>(!::write(STDERR_FILENO, each, std::strlen(each)));
    ::_exit(troupe::tools::exit_code::failed);
  };
  try {
    if (const auto problem = std::current_exception()) std::rethrow_exception(problem);
  } catch (const std::bad_alloc&) {
    say("out of memory");
  } catch (const std::system_error& e) {
    say(e.what());
  } catch (...) {  // as the library's own: its name and text, and SIGABRT
    __gnu_cxx::__verbose_terminate_handler();
  }
  std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  // The kubelet starts this program again for each container; no command line is parsed for that.
  if (const auto done = troupe::actors::run_container_program(argc, argv)) return *done;
  std::set_terminate(end_in_words);
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

// Only the program's hidden subcommands, for tests that run containers without the whole program.
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "actors/kubelet/runtimes/process/container_programs.hpp"

int main(int argc, char** argv) {
  // A thread that handles no signals, as the allocator of the whole program has: this code
  // must not rely on being single-threaded.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread{[] {
    for (;;)
      ::pause();
  }}.detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return troupe::actors::run_container_program(argc, argv).value_or(2);
}

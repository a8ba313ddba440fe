#include "actors/kubelet/runtimes/process/container_programs.hpp"

#include <string_view>
#include <vector>

#include "actors/kubelet/runtimes/process/container_exec.hpp"
#include "actors/kubelet/runtimes/process/container_shim.hpp"

namespace troupe::actors {

std::optional<int> run_container_program(int argc, char** argv) {
  if (argc < 3) return std::nullopt;
  const std::string_view command = argv[1];
  if (command == container_shim_command && argc == 3) return container_shim_main(argv[2]);
  if (command == container_exec_command && argc > 3)
    return container_exec_main(argv[2], {argv + 3, argv + argc});
  return std::nullopt;
}

}  // namespace troupe::actors

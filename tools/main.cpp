#include "tools/commands.hpp"
#include "tools/program.hpp"

int main(int argc, char** argv) {
  troupe::tools::program program;
  troupe::tools::add_commands(program);
  return program.run(argc, argv);
}

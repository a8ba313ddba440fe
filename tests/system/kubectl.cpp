#include "system/kubectl.hpp"

#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "build_paths.hpp"
#include "system/node.hpp"

namespace troupe::test {

std::vector<kubectl> kubectls(const std::string& prefix) {
  std::istringstream lines{shell(TROUPE_SOURCE_DIR "/tools/kubectls " + prefix).output};
  std::vector<kubectl> out;
  std::set<std::string> seen;
  for (kubectl one; lines >> one.version >> one.path;)
    if (seen.insert(one.version.substr(0, one.version.rfind('.'))).second) out.push_back(one);
  return out;
}

terminal::terminal(const kubectl& with, std::filesystem::path folder,
                   const std::filesystem::path& kubeconfig)
    : folder_{std::move(folder)} {
  std::filesystem::create_directories(folder_ / "bin");
  std::filesystem::create_symlink(with.path, folder_ / "bin/kubectl");
  std::filesystem::create_symlink(TROUPE_BINARY_DIR "/troupe", folder_ / "bin/troupe");
  std::filesystem::copy_file(kubeconfig, folder_ / "kubeconfig");
}

// Output goes to a file: background processes of a command then hold no pipe.
process_result terminal::run(const std::string& command) const {
  write_file(folder_ / "command.sh", command + "\n");
  auto out = shell("cd " + folder_.string() +
                   " && HOME=$PWD KUBECONFIG=$PWD/kubeconfig PATH=$PWD/bin:$PATH"
                   " timeout 180 bash command.sh >output 2>&1 </dev/null");
  out.output = read_file(folder_ / "output");
  return out;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream{path} << text;
}

}  // namespace troupe::test

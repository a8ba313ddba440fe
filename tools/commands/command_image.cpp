// `troupe image`: the images of this machine's container runtime. CRI has no call that imports one,
// so containerd's own `ctr` does it, in the namespace that CRI uses.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "actors/kubelet/os/child_process.hpp"
#include "config/defaults.hpp"
#include "tools/command_line/program.hpp"
#include "tools/commands/commands.hpp"

namespace troupe::tools {

namespace {

struct order {
  std::string endpoint{config::defaults::cri_endpoint};
  std::string subject;
};

// Replaces this program, so that ctr's output and exit code become ours.
int run_ctr(const order& from, std::vector<std::string> action) {
  auto socket = from.endpoint;
  constexpr std::string_view scheme = "unix://";
  if (socket.starts_with(scheme)) socket.erase(0, scheme.size());
  std::vector<std::string> words{"ctr", "-a", std::move(socket), "-n", "k8s.io", "images"};
  words.insert(words.end(), action.begin(), action.end());
  if (!from.subject.empty()) words.push_back(from.subject);
  std::cout.flush();
  ::execvp(words.front().c_str(), actors::pointers(words).data());
  std::cerr << "troupe: cannot run ctr, which comes with containerd: " << std::strerror(errno)
            << "\n";
  return exit_code::failed;
}

CLI::App& add(program& to, CLI::App& parent, const std::string& name, const std::string& about,
              const std::shared_ptr<order>& given, std::vector<std::string> action) {
  auto& command = to.add(parent, name, about, [given, action] { return run_ctr(*given, action); });
  command.add_option("--cri-endpoint", given->endpoint, "Socket of containerd.")
      ->type_name("SOCKET")
      ->capture_default_str();
  return command;
}

}  // namespace

void add_image_command(program& to) {
  auto& image =
      to.add_group("image", "Imports, lists and removes images of this machine's containerd.");
  const auto given = std::make_shared<order>();
  add(to, image, "import", "Imports the images of an archive (OCI, or of docker save).", given,
      {"import"})
      .add_option("file", given->subject, "The archive.")
      ->type_name("FILE")
      ->required()
      ->check(CLI::ExistingFile);
  add(to, image, "list", "Lists the images with digests and sizes.", given, {"list"});
  add(to, image, "remove", "Removes an image; a container that uses it runs on.", given, {"remove"})
      .add_option("name", given->subject, "Its name, as list shows it.")
      ->type_name("IMAGE")
      ->required();
}

}  // namespace troupe::tools

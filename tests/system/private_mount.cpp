#include "system/private_mount.hpp"

#include <unistd.h>

#include <chrono>
#include <stdexcept>

#include "support/programs/shell.hpp"
#include "support/skip.hpp"
#include "system/node.hpp"

namespace troupe::test {
namespace {

constexpr std::chrono::seconds patience{60};

const char* unshare() {
  return ::geteuid() == 0 ? "unshare -m" : "unshare -rm";
}

}  // namespace

bool private_mount::possible() {
  const bool fine =
      shell(std::string{unshare()} + " mount -t tmpfs none /mnt 2>/dev/null").code == 0;
  if (!fine) skip("this user may not make mount namespaces");
  return fine;
}

private_mount::private_mount(std::filesystem::path folder, const std::string& arguments) {
  std::filesystem::create_directories(folder);
  const auto note = folder.string() + ".pid";
  std::filesystem::remove(note);  // of an earlier mount
  // The shell becomes cat, which ends when we do.
  const auto command = std::string{"exec "} + unshare() + " sh -c 'mount " + arguments +
                       " \"$0\" && echo $$ >\"$1.new\" && mv \"$1.new\" \"$1\" && exec cat' " +
                       folder.string() + " " + note + " >/dev/null";
  helper_ = ::popen(command.c_str(), "we");
  if (helper_ == nullptr) throw std::runtime_error{"no helper"};
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!std::filesystem::exists(note))
    if (std::chrono::steady_clock::now() > deadline) {
      ::pclose(helper_);
      throw std::runtime_error{"cannot be mounted: " + arguments};
    }
  path_ = "/proc/" + std::to_string(std::stoi(read_file(note))) + "/root" + folder.string();
}

private_mount::~private_mount() {
  ::pclose(helper_);
}

}  // namespace troupe::test

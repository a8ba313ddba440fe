#include "tools/compose.hpp"

namespace troupe::tools {

namespace {

class node : public node_parts {
 public:
  tl::expected<std::string, std::string> start() override {
    return tl::make_unexpected(std::string("this program was built without a server"));
  }
  void stop() override {}
};

}  // namespace

std::unique_ptr<node_parts> compose(const config::node_config&) {
  return std::make_unique<node>();
}

}  // namespace troupe::tools

// A control plane with a store in memory and a listener for joined nodes on a port of its own: for
// tests of a link between real ends.
#pragma once

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <tl/expected.hpp>

#include "actors/control_plane/control_plane.hpp"
#include "actors/link/node_links.hpp"
#include "api/scheme.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor_system.hpp"
#include "server/credentials/x509.hpp"
#include "tools/join/credentials.hpp"
#include "tools/node/link_service.hpp"

namespace troupe::tools::test {

// False if it does not become true within a minute.
bool eventually(const std::function<bool()>& holds);

template <class T>
T must(tl::expected<T, std::string> result) {
  INFO((result ? "" : result.error()));
  REQUIRE(result);
  return std::move(*result);
}

class joined_plane {
 public:
  joined_plane();

  // Listens on that port; 0: any.
  void serve(std::uint16_t port);
  void hang_up() { link_.reset(); }
  std::uint16_t port() const { return port_; }
  actors::control_plane& control() { return *control_; }
  const actors::link_table& links() const { return control_->links().table(); }

  // Issues credentials as the certificate endpoint does.
  joined_credentials admit(const std::string& node);

  void create(std::unique_ptr<api::body> content);
  void remove(const std::string& key);
  template <class T>
  api::object_ptr find(const std::string& ns, const std::string& name) const {
    return store_->read().find(api::kind_of<T>().key(ns, name));
  }

 private:
  void commit(persistence::transaction transaction);

  server::x509::validity valid_;
  server::x509::identity authority_, server_;
  std::mt19937_64 random_{1};
  std::atomic<std::uint16_t> port_{0};
  std::unique_ptr<persistence::store> store_;
  std::unique_ptr<runtime::actor_system> system_;
  std::unique_ptr<actors::control_plane> control_;
  std::unique_ptr<link_service> link_;
};

}  // namespace troupe::tools::test

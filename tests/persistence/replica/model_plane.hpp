// A control plane's store over a model log, which the test advances.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>

#include "persistence/engine/memory_engine.hpp"
#include "persistence/model_log.hpp"
#include "persistence/replica/replicated_store.hpp"

namespace troupe::persistence::testing {

struct model_plane {
  model_log* log = nullptr;
  std::unique_ptr<replicated_store> store;

  model_plane(model_cluster& cluster, const std::string& name, model_faults faults,
              std::shared_ptr<memory_disk> disk = std::make_shared<memory_disk>()) {
    faults.threaded = false;
    auto made = std::make_unique<model_log>(cluster, faults);
    log = made.get();
    store_options options;
    options.history_revisions = 1'000'000;
    auto opened = replicated_store::open(options, memory_engine_on(std::move(disk)),
                                         std::move(made), "model", name);
    REQUIRE(opened);
    store = std::move(*opened);
    log->run();
  }

  outcome commit(transaction request) {
    std::optional<outcome> told;
    store->submit(std::move(request), [&](const outcome& result) { told = result; });
    log->run();
    REQUIRE(told);
    return *told;
  }
};

}  // namespace troupe::persistence::testing

// Plans the binder's next step for one claim or one volume, from the current objects. Pure; the
// same objects always give the same step.
//
// kubernetes: pkg/controller/volume/persistentvolume/pv_controller.go, syncClaim and syncVolume.
// Upstream writes a binding in four steps, which may stop half-way; here it is one transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "actors/volumes/claim_rules.hpp"

namespace troupe::actors::volumes {

// An event about the object.
struct note {
  bool warning = false;
  std::string reason, message;
};

struct claim_facts {
  const PersistentVolumeClaim& claim;
  api::object_ptr storage_class;            // class_of(claim); null: there is none
  api::object_ptr default_class;            // null: there is none
  api::object_ptr named;                    // the volume of spec.volumeName; null: there is none
  std::vector<api::object_ptr> candidates;  // volumes that may be bound
};

struct claim_step {
  enum class action {
    none,
    bind,        // to `volume`; also completes an incomplete binding
    lose,        // set the phase Lost
    set_class,   // to `class_name`
    provision,   // by the built-in provisioner
    ask_others,  // set the annotation that `provisioner` waits for
    expand,      // set the volume's capacity to the claim's request
  };
  action todo = action::none;
  api::object_ptr volume = nullptr;
  std::string class_name = {}, provisioner = {};
  std::optional<note> event = std::nullopt;
};

claim_step plan_claim(const claim_facts& facts);

struct volume_step {
  std::string phase = {};  // empty: unchanged
  std::string message = {};
  bool remove = false;   // its claim is deleted
  bool unbind = false;   // removes the reservation for its claim
  bool release = false;  // no node can remove its directory: removes the finalizer
  std::optional<note> event = std::nullopt;

  bool empty() const { return phase.empty() && !remove && !unbind && !release; }
};

// `claim`: the claim in claimRef; null if there is none. `has_node`: whether the node with its
// directory exists.
volume_step plan_volume(const PersistentVolume& volume, const PersistentVolumeClaim* claim,
                        bool has_node);

// The newest class that is marked as the default, the first by name among equals (kubernetes:
// GetDefaultClass). Null: there is none.
api::object_ptr default_class_of(const std::vector<api::object_ptr>& classes);

}  // namespace troupe::actors::volumes

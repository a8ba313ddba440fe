// What the binder does next about one claim or one volume: from the objects as they are now to one
// step. Pure; the same step follows from the same objects, however often it is asked for.
//
// kubernetes: pkg/controller/volume/persistentvolume/pv_controller.go, syncClaim and syncVolume.
// There a binding is written in four steps, and half of it may stand; here it is one transaction.
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
  api::object_ptr storage_class;            // by class_of(claim); null: there is none
  api::object_ptr default_class;            // null: there is none
  api::object_ptr named;                    // the volume of spec.volumeName; null: there is none
  std::vector<api::object_ptr> candidates;  // volumes that may be bound
};

struct claim_step {
  enum class action {
    none,
    bind,        // to `volume`; also where one side of a binding has to be mended
    lose,        // the phase becomes Lost
    set_class,   // to `class_name`
    provision,   // by the built-in provisioner
    ask_others,  // the annotation that `provisioner` waits for
    expand,      // the volume is as large as the claim asks
  };
  action todo = action::none;
  api::object_ptr volume = nullptr;
  std::string class_name = {}, provisioner = {};
  std::optional<note> event = std::nullopt;
};

claim_step plan_claim(const claim_facts& facts);

struct volume_step {
  std::string phase = {};  // empty: as it is
  std::string message = {};
  bool remove = false;   // its claim has gone
  bool unbind = false;   // the reservation for its claim is taken back
  bool release = false;  // nobody is to remove its directory: the finalizer goes
  std::optional<note> event = std::nullopt;

  bool empty() const { return phase.empty() && !remove && !unbind && !release; }
};

// `claim`: the one that claimRef names; null where there is none. `node`: whether the node that
// keeps its directory is there.
volume_step plan_volume(const PersistentVolume& volume, const PersistentVolumeClaim* claim,
                        bool has_node);

// The newest of those that are marked as the default, the first by name among equals (kubernetes:
// GetDefaultClass). Null: none is.
api::object_ptr default_class_of(const std::vector<api::object_ptr>& classes);

}  // namespace troupe::actors::volumes

// Settings, as environment variables, of every node that a test starts as a program.
#pragma once

namespace troupe::test {

struct node_setting {
  const char* name;
  const char* value;
};

// No eviction for the disk: a test's result does not depend on how full the machine's disk is.
inline constexpr node_setting eviction_disk{"TROUPE_KUBELET_EVICTION_DISK", "0"};

}  // namespace troupe::test

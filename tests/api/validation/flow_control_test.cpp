// Validation of FlowSchemas and PriorityLevelConfigurations, in Kubernetes' words.
#include <catch2/catch.hpp>

#include "api/manifests.hpp"
#include "api/validation/validation.hpp"

using namespace troupe;
using namespace troupe::api;

namespace {

using lines = std::vector<std::string>;

constexpr const char* flow = "FlowSchema";
constexpr const char* level = "PriorityLevelConfiguration";

struct refusal {
  const char* kind;
  const char* members;  // besides kind and apiVersion
  lines expected;
};

void check_all(const std::vector<refusal>& table) {
  for (const auto& [kind, members, expected] : table) {
    INFO(members);
    const auto read = test::object_from(
        std::string{"apiVersion: flowcontrol.apiserver.k8s.io/v1\nkind: "} + kind + "\n" + members);
    set_defaults(*read.kind, *read.content);
    lines found;
    for (const auto& cause : validate_create(*read.kind, *read.content))
      found.push_back(cause.field + ": " + cause.message);
    CHECK(found == expected);
  }
}

}  // namespace

TEST_CASE("flow schemas that match no request as meant are refused") {
  check_all({
      {flow,
       "metadata: {name: x}\nspec: {matchingPrecedence: 1}\n",
       {"spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have "
        "matchingPrecedence 1",
        "spec.priorityLevelConfiguration.name: Required value: must reference a priority level"}},
      {flow,
       "metadata: {name: x}\nspec: {matchingPrecedence: 10001, distinguisherMethod: {type: Odd}, "
       "priorityLevelConfiguration: {name: l}, rules: [{resourceRules: [{}], nonResourceRules: "
       "[{verbs: [see], nonResourceURLs: [/a, b, /c*]}]}]}\n",
       {"spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000",
        "spec.distinguisherMethod.type: Unsupported value: {\"Type\":\"Odd\"}: supported values: "
        "\"ByNamespace\", \"ByUser\"",
        "spec.rules[0].subjects: Required value: subjects must contain at least one value",
        "spec.rules[0].resourceRules[0].verbs: Required value: verbs must contain at least one "
        "value",
        "spec.rules[0].resourceRules[0].apiGroups: Required value: resource rules must supply at "
        "least one api group",
        "spec.rules[0].resourceRules[0].resources: Required value: resource rules must supply at "
        "least one resource",
        "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not "
        "cluster scoped must supply at least one namespace",
        "spec.rules[0].nonResourceRules[0].verbs: Unsupported value: [\"see\"]: supported values: "
        "\"create\", \"delete\", \"deletecollection\", \"get\", \"list\", \"patch\", \"proxy\", "
        "\"update\", \"watch\"",
        "spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: \"b\": must start "
        "with slash",
        "spec.rules[0].nonResourceRules[0].nonResourceURLs[2]: Invalid value: \"/c*\": wildcard "
        "can only do suffix matching"}},
      {flow,
       "metadata: {name: x}\nspec: {priorityLevelConfiguration: {name: l}, rules: [{subjects: [{}, "
       "{kind: ServiceAccount, serviceAccount: {}}], nonResourceRules: [{verbs: ['*', get], "
       "nonResourceURLs: ['*']}]}]}\n",
       {"spec.rules[0].subjects[0].kind: Unsupported value: \"\": supported values: \"Group\", "
        "\"ServiceAccount\", \"User\"",
        "spec.rules[0].subjects[1].serviceAccount.name: Required value",
        "spec.rules[0].subjects[1].serviceAccount.namespace: Required value: must specify "
        "namespace for service account",
        "spec.rules[0].nonResourceRules[0].verbs: Invalid value: [\"*\",\"get\"]: if '*' is "
        "present, must not specify other verbs"}},
  });
}

TEST_CASE("priority levels whose limits contradict each other are refused") {
  check_all({
      {level,
       "metadata: {name: x}\nspec: {type: Limited}\n",
       {"spec.limited: Required value: must not be empty when type is Limited"}},
      {level,
       "metadata: {name: x}\n",
       {"spec.type: Unsupported value: \"\": supported values: \"Exempt\", \"Limited\""}},
      {level,
       "metadata: {name: x}\nspec: {type: Exempt, exempt: {nominalConcurrencyShares: -1, "
       "lendablePercent: 101}}\n",
       {"spec.exempt.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive",
        "spec.type: Invalid value: \"Exempt\": type must be 'Exempt' if and only if name is "
        "'exempt'",
        "spec.exempt.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer"}},
      {level,
       "metadata: {name: x}\nspec: {type: Limited, exempt: {}, limited: "
       "{borrowingLimitPercent: -1}}\n",
       {"spec.limited.limitResponse.type: Unsupported value: \"\": supported values: \"Queue\", "
        "\"Reject\"",
        "spec.exempt: Forbidden: must be nil if the type is Limited",
        "spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a "
        "non-negative integer"}},
      {level,
       "metadata: {name: x}\nspec: {type: Limited, limited: {limitResponse: {type: Queue, queuing: "
       "{queues: 10000001, handSize: -1, queueLengthLimit: -1}}}}\n",
       {"spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: -1: must be positive",
        "spec.limited.limitResponse.queuing.queues: Invalid value: 10000001: must not be greater "
        "than 10000000",
        "spec.limited.limitResponse.queuing.handSize: Invalid value: -1: must be positive"}},
      {level,
       "metadata: {name: x}\nspec: {type: Limited, limited: {limitResponse: {type: Queue, queuing: "
       "{queues: 64, handSize: 20, queueLengthLimit: 1}}}}\n",
       {"spec.limited.limitResponse.queuing.handSize: Invalid value: 20: required entropy bits of "
        "deckSize 64 and handSize 20 should not be greater than 60"}},
  });
}

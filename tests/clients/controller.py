#!/usr/bin/python3
"""Debian's python3-kubernetes against a node: the operations of its authors' examples.

    tests/clients/controller.py KUBECONFIG

Lists and watches, the dynamic client, custom resources, a controller with a finalizer, leader
election. Prints one line for each part; the first that fails ends it with an exception.
"""

import sys
import threading
import time

from kubernetes import client, config, dynamic, watch
from kubernetes.client.rest import ApiException
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock

GROUP, VERSION, PLURAL = "example.com", "v1", "widgets"
FINALIZER = "example.com/cleanup"
DEADLINE_SECONDS = 60


def require(holds, problem):
    if not holds:
        raise AssertionError(problem)


def wait_for(event, holds):
    """Polls the server without pauses, because each request takes time."""
    end = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < end:
        if holds():
            return
    raise AssertionError(event + " did not come")


def pods(core):
    """Create, list, watch and delete."""
    spec = client.V1PodSpec(containers=[client.V1Container(name="c", image="i")])
    made = core.create_namespaced_pod(
        "default",
        client.V1Pod(metadata=client.V1ObjectMeta(name="web", labels={"app": "web"}), spec=spec))
    listed = core.list_namespaced_pod("default", label_selector="app=web")
    require([each.metadata.name for each in listed.items] == ["web"], "the pod is listed")
    phases = []
    for event in watch.Watch().stream(core.list_namespaced_pod, "default",
                                      resource_version=made.metadata.resource_version,
                                      timeout_seconds=DEADLINE_SECONDS):
        phases.append(event["object"].status.phase)
        if phases[-1] == "Running":
            break
    require(phases and phases[-1] == "Running", "the watch shows the pod running")
    core.delete_namespaced_pod("web", "default", grace_period_seconds=0)
    print("pods: created, listed, watched to Running, deleted")


def define(extensions):
    schema = {"type": "object", "properties": {
        "spec": {"type": "object", "required": ["size"], "properties": {
            "size": {"type": "integer", "minimum": 1}, "color": {"type": "string", "default": "red"}}},
        "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}}}}
    extensions.create_custom_resource_definition({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": PLURAL + "." + GROUP},
        "spec": {"group": GROUP, "scope": "Namespaced",
                 "names": {"plural": PLURAL, "kind": "Widget"},
                 "versions": [{"name": VERSION, "served": True, "storage": True,
                               "schema": {"openAPIV3Schema": schema},
                               "subresources": {"status": {}}}]}})

    def established():
        status = extensions.read_custom_resource_definition(PLURAL + "." + GROUP).status
        return any(each.type == "Established" and each.status == "True"
                   for each in status.conditions or [])
    wait_for("Established", established)


def widget(name, size):
    return {"apiVersion": GROUP + "/" + VERSION, "kind": "Widget", "metadata": {"name": name},
            "spec": {"size": size}}


def custom_resources(api):
    define(client.ApiextensionsV1Api(api))
    custom = client.CustomObjectsApi(api)
    made = custom.create_namespaced_custom_object(GROUP, VERSION, "default", PLURAL, widget("a", 3))
    require(made["spec"]["color"] == "red", "a default of the schema is set")
    try:
        custom.create_namespaced_custom_object(GROUP, VERSION, "default", PLURAL, widget("b", 0))
        raise AssertionError("a size of 0 was taken")
    except ApiException as refused:
        require(refused.status == 422 and "spec.size" in refused.body, "spec.size is named")
    custom.patch_namespaced_custom_object_status(GROUP, VERSION, "default", PLURAL, "a",
                                                 {"status": {"ready": True}})
    found = dynamic.DynamicClient(api).resources.get(api_version=GROUP + "/" + VERSION, kind="Widget")
    require(found.get(name="a", namespace="default").status.ready is True, "the status is kept")
    print("custom resources: defined, created, refused, status, dynamic client")


def controller(api):
    """Adds a finalizer to new objects, and removes it when an object is deleted."""
    custom = client.CustomObjectsApi(api)
    seen = []

    def reconcile(item):
        meta = item["metadata"]
        finalizers = meta.get("finalizers", [])
        if "deletionTimestamp" in meta and FINALIZER in finalizers:
            seen.append("cleaned " + meta["name"])
            wanted = []
        elif "deletionTimestamp" not in meta and FINALIZER not in finalizers:
            wanted = [FINALIZER]
        else:
            return
        custom.patch_namespaced_custom_object(GROUP, VERSION, "default", PLURAL, meta["name"],
                                              {"metadata": {"finalizers": wanted}})

    custom.create_namespaced_custom_object(GROUP, VERSION, "default", PLURAL, widget("held", 1))
    deleted = False
    for event in watch.Watch().stream(custom.list_namespaced_custom_object, GROUP, VERSION, "default",
                                      PLURAL, timeout_seconds=DEADLINE_SECONDS):
        item = event["object"]
        if event["type"] == "DELETED" and item["metadata"]["name"] == "held":
            break
        reconcile(item)
        if not deleted and FINALIZER in item["metadata"].get("finalizers", []):
            deleted = item["metadata"]["name"] == "held"
            if deleted:
                custom.delete_namespaced_custom_object(GROUP, VERSION, "default", PLURAL, "held")
    require(seen == ["cleaned held"], "the finalizer was given up once: %s" % seen)
    print("controller: finalizer added, cleaned up, object gone")


def leader(_api):
    elected = threading.Event()
    lock = ConfigMapLock("election", "default", "one")
    thread = threading.Thread(daemon=True, target=leaderelection.LeaderElection(
        electionconfig.Config(lock, lease_duration=17, renew_deadline=15, retry_period=5,
                              onstarted_leading=elected.set, onstopped_leading=None)).run)
    thread.start()
    require(elected.wait(DEADLINE_SECONDS), "nobody was elected")
    print("leader election: elected")


def main():
    config.load_kube_config(sys.argv[1])
    api = client.ApiClient()
    pods(client.CoreV1Api(api))
    custom_resources(api)
    controller(api)
    leader(api)


if __name__ == "__main__":
    main()

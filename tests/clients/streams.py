#!/usr/bin/python3
"""Commands and ports of a pod by Debian's python3-kubernetes.

    tests/clients/streams.py KUBECONFIG POD PORT

POD runs, and answers HTTP at PORT. Prints one line for each part; the first that fails ends it with
an exception.
"""

import sys

from kubernetes import client, config
from kubernetes.stream import portforward, stream


def require(holds, problem):
    if not holds:
        raise AssertionError(problem)


def run(core, pod):
    """Runs a command and reads its output."""
    out = stream(core.connect_get_namespaced_pod_exec, pod, "default",
                 command=["sh", "-c", "echo out; echo err >&2"],
                 stderr=True, stdin=False, stdout=True, tty=False)
    require(sorted(out.splitlines()) == ["err", "out"], out)
    print("exec: output of both streams")


def talk(core, pod):
    """Writes to a command, and reads its exit code."""
    shell = stream(core.connect_get_namespaced_pod_exec, pod, "default", command=["sh"],
                   stderr=True, stdin=True, stdout=True, tty=False, _preload_content=False)
    shell.write_stdin("echo $((6 * 7))\n")
    require(shell.readline_stdout(timeout=60) == "42", "the shell answers")
    shell.write_stdin("exit 3\n")
    shell.run_forever(timeout=60)
    require(shell.returncode == 3, shell.returncode)
    print("exec: input, and the exit code")


def forward(core, pod, port):
    """A port, as a socket."""
    ports = portforward(core.connect_get_namespaced_pod_portforward, pod, "default",
                        ports=str(port))
    connection = ports.socket(port)
    connection.setblocking(True)
    connection.sendall(b"GET / HTTP/1.1\r\nHost: pod\r\nConnection: close\r\n\r\n")
    answer = b""
    while part := connection.recv(4096):
        answer += part
    require(answer.startswith(b"HTTP/1."), answer)
    require(ports.error(port) is None, ports.error(port))
    print("port-forward: a request and its answer")


def main():
    config.load_kube_config(sys.argv[1])
    core = client.CoreV1Api()
    run(core, sys.argv[2])
    talk(core, sys.argv[2])
    if len(sys.argv) > 3:
        forward(core, sys.argv[2], int(sys.argv[3]))


main()

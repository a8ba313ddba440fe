// npm's @kubernetes/client-node against a node: the operations of its authors' examples.
//
//   node client.mjs KUBECONFIG POD PORT
//
// POD runs in the namespace default, and answers HTTP at PORT. Prints one line for each part; the
// first that fails ends it with an exception.
import * as k8s from '@kubernetes/client-node';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import stream from 'node:stream';

const [file, pod, port] = process.argv.slice(2);
const namespace = 'default';
const config = new k8s.KubeConfig();
config.loadFromFile(file);
const core = config.makeApiClient(k8s.CoreV1Api);

function collected() {
  const sink = new stream.PassThrough();
  const parts = [];
  sink.on('data', (part) => parts.push(part));
  return {sink, text: () => Buffer.concat(parts).toString()};
}

async function informs() {
  const list = () => core.listNamespacedConfigMap({namespace});
  const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list);
  const changed = new Promise((resolve) =>
    informer.on('update', (map) => map.metadata.name === 'seen' && resolve(map.data.color)));
  const added = new Promise((resolve) =>
    informer.on('add', (map) => map.metadata.name === 'seen' && resolve(map.data.color)));
  await informer.start();
  await core.createNamespacedConfigMap(
    {namespace, body: {metadata: {name: 'seen'}, data: {color: 'red'}}});
  assert.equal(await added, 'red');
  const objects = k8s.KubernetesObjectApi.makeApiClient(config);
  await objects.patch(
    {apiVersion: 'v1', kind: 'ConfigMap', metadata: {name: 'seen', namespace},
      data: {color: 'blue'}},
    undefined, undefined, 'client', true, k8s.PatchStrategy.ServerSideApply);
  assert.equal(await changed, 'blue');
  await informer.stop();
  console.log('informer and apply: added, changed');
}

async function executes() {
  const out = collected();
  const err = collected();
  const status = await new Promise((resolve, reject) =>
    new k8s.Exec(config)
      .exec(namespace, pod, '', ['sh', '-c', 'cat; echo err >&2; exit 4'], out.sink, err.sink,
        stream.Readable.from(['hello\n']), false, resolve)
      .catch(reject));
  assert.equal(out.text(), 'hello\n');
  assert.equal(err.text(), 'err\n');
  assert.equal(status.details.causes[0].message, '4');
  console.log('exec: input, output, error, exit code');
}

// The library says nothing when it is done: the pod is asked. Its way back is not tried: it packs
// with gzip and unpacks without.
async function copies() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'copies-'));
  const [from, to] = ['from', 'to'].map((name) => path.join(folder, name));
  fs.mkdirSync(from);
  fs.mkdirSync(to);
  fs.writeFileSync(path.join(from, 'file'), 'content'.repeat(100000));
  await new k8s.Cp(config).cpToPod(namespace, pod, '', from, to);
  const there = () => fs.existsSync(path.join(to, 'file')) && fs.statSync(path.join(to, 'file')).size;
  const until = Date.now() + 60000;
  while (there() !== 700000 && Date.now() < until)
    await new Promise((resolve) => setImmediate(resolve));
  assert.equal(there(), 700000);
  fs.rmSync(folder, {recursive: true});
  console.log('cp: a folder into the pod');
}

async function forwards() {
  const forward = new k8s.PortForward(config);
  const server = net.createServer((socket) =>
    forward.portForward(namespace, pod, [Number(port)], socket, null, socket));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const answer = await fetch(`http://127.0.0.1:${server.address().port}/`);
  assert.equal(answer.status, 200);
  await answer.text();
  server.close();
  console.log('port-forward: a request and its answer');
}

await informs();
await executes();
await copies();
if (port) await forwards();
process.exit(0);

// node ask_perfetto.cjs ENGINE TRACE SQL...: runs each query in Perfetto's own engine, and prints
// its answer's printable bytes. ENGINE is the folder of engine_bundle.js and its .wasm.
const fs = require('fs');
const path = require('path');
const vm = require('vm');

// The engine runs in browsers only, and takes what has a global `process` for something else.
const node = process;
delete globalThis.process;

const [engine, trace, ...queries] = node.argv.slice(2);

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  return Buffer.from([...bytes, value]);
}
function field(number, bytes) {
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}
function numberField(number, value) {
  return Buffer.concat([varint(number * 8), varint(value)]);
}

// A request of the engine's stream, see Perfetto's trace_processor.proto.
const APPEND = 1, FINISH = 2, QUERY = 3;
let requests = 0;
function request(kind, body = Buffer.alloc(0)) {
  return field(1, Buffer.concat([numberField(1, requests++), numberField(2, kind), body]));
}

// What a browser's worker has, as far as the engine asks for it.
const file = url => fs.readFileSync(path.join(engine, path.basename(String(url))));
Object.assign(globalThis, {
  self: globalThis,
  location: {href: 'http://engine/'},
  importScripts() {},
  WorkerGlobalScope: class {},
  XMLHttpRequest: class {
    open(method, url) { this.url = url; }
    send() { this.response = Uint8Array.from(file(this.url)).buffer; }
  },
});

async function main() {
  vm.runInThisContext(file('engine_bundle.js').toString());
  let answers = [];
  const port = {onmessage: null, postMessage: bytes => answers.push(Buffer.from(bytes))};
  const wait = async found => {
    for (let i = 0; i < 1500 && !found(); i++) await new Promise(f => setTimeout(f, 20));
    if (!found()) throw new Error('the engine does not answer');
  };
  await wait(() => globalThis.onmessage);
  globalThis.onmessage({data: port});
  await wait(() => port.onmessage);
  const send = async bytes => {
    answers = [];
    port.onmessage({data: Uint8Array.from(bytes)});
    await wait(() => answers.length > 0);
    return Buffer.concat(answers).toString('latin1').replace(/[^\x20-\x7e]+/g, ' ');
  };
  await send(request(APPEND, field(101, fs.readFileSync(trace))));
  await send(request(FINISH));
  for (const query of queries) {
    console.log(await send(request(QUERY, field(103, field(1, Buffer.from(query))))));
  }
  node.exit(0);
}

main().catch(error => {
  console.error(error.message);
  node.exit(1);
});

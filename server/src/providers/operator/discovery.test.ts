import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../../test/eventually.ts";
import { startModelServer } from "../../../test/model-server.ts";
import { createLeanFetch } from "../../base/egress/index.ts";
import { createLog } from "../../base/log.ts";
import { Discovery } from "./discovery.ts";

const waits = { connectTimeoutMs: 5_000, headersTimeoutMs: 5_000, bodyTimeoutMs: 5_000 };
const free = { host: "127.0.0.1", port: 0 };

async function opened(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(free, resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Starts an HTTP server. `paths` lists the paths that were requested. */
async function serving(answer: RequestListener): Promise<{ port: number; paths: string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    answer(request, response);
  });
  onTestFinished(() => server.closeAllConnections());
  return { port: await opened(server), paths };
}

const json =
  (value: unknown): RequestListener =>
  (_request, response) =>
    void response.end(JSON.stringify(value));

function discoveryOf(port: number, { ownPorts = [] as number[], probeTimeoutMs = 5_000 } = {}) {
  const transport = createLeanFetch(waits);
  onTestFinished(() => transport.close());
  return new Discovery({
    servers: [{ name: "ollama", port, start: "Start Ollama" }],
    ownPorts: new Set(ownPorts),
    fetch: transport.fetch,
    log: createLog("silent"),
    probeTimeoutMs,
  });
}

async function foundAt(port: number): Promise<readonly unknown[]> {
  const discovery = discoveryOf(port);
  await discovery.probe(0);
  return discovery.found;
}

test("a server that lists models as OpenAI does is found, with its models", async () => {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  const port = Number(new URL(server.url).port);
  expect(await foundAt(port)).toEqual([
    {
      name: "ollama",
      kind: "openai-compatible",
      origin: "discovered",
      baseUrl: server.url,
      apiKey: undefined,
      models: ["scripted"],
    },
  ]);
});

test.each([
  ["no model", { object: "list", data: [] }, []],
  ["null in place of models", { object: "list", data: null }, []],
  [
    "more fields",
    { models: [], object: "list", data: [{ id: "a", object: "model", n: 1 }] },
    ["a"],
  ],
  [
    "names that no agent could use",
    { object: "list", data: ["", "two words", "ok"].map((id) => ({ id, object: "model" })) },
    ["ok"],
  ],
])("a list with %s is one", async (_what, list, models) => {
  const { port } = await serving(json(list));
  expect(await foundAt(port)).toMatchObject([{ models }]);
});

test.each<[string, RequestListener]>([
  ["an error", (_, response) => void response.writeHead(404).end('{"object":"list","data":[]}')],
  ["a web page", (_, response) => void response.end("<html>")],
  ["nothing", (_, response) => void response.end()],
  ["null", json(null)],
  ["a list of another API", json({ data: [{ id: "1", type: "models" }] })],
  ["other objects", json({ object: "list", data: [{ id: "x", object: "vehicle" }] })],
  ["ids that are numbers", json({ object: "list", data: [{ id: 1, object: "model" }] })],
  ["a text in place of the list", json({ object: "list", data: "models" })],
  ["a list of texts", json({ object: "list", data: ["llama3"] })],
  [
    "a list without end",
    (_, response) => {
      const more = () => {
        while (response.writable && response.write("x".repeat(65_536)));
      };
      response.on("drain", more).write('{"object":"list","data":[{"id":"');
      more();
    },
  ],
  ["a broken connection", (request) => void request.socket.destroy()],
])("a server that answers %s is not found", async (_what, answer) => {
  const { port } = await serving(answer);
  expect(await foundAt(port)).toEqual([]);
});

test("a server that does not speak HTTP is not found", async () => {
  const port = await opened(createTcpServer((socket) => void socket.end("SSH-2.0\r\n")));
  expect(await foundAt(port)).toEqual([]);
});

test("a redirect is not followed", async () => {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  const { port, paths } = await serving((_, response) =>
    response.writeHead(302, { location: `${server.url}/models` }).end(),
  );
  expect(await foundAt(port)).toEqual([]);
  expect([paths, server.listRequests]).toEqual([["/v1/models"], 0]);
});

test("a port of Beckon's own is not probed", async () => {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  const port = Number(new URL(server.url).port);
  const discovery = discoveryOf(port, { ownPorts: [port] });
  await discovery.probe(0);
  expect([discovery.found, server.listRequests]).toEqual([[], 0]);
});

test("a server that starts later is found by the next probe, and gone after it has stopped", async () => {
  const { port } = await startModelServer().then(async (server) => {
    await server.close();
    return new URL(server.url);
  });
  const discovery = discoveryOf(Number(port));
  await discovery.probe(0);
  expect(discovery.found).toEqual([]);
  const server = await startModelServer({ host: "127.0.0.1", port: Number(port) });
  await discovery.probe(Number.POSITIVE_INFINITY);
  expect(discovery.found).toEqual([]);
  await discovery.probe(-1);
  expect(discovery.found).toHaveLength(1);
  await server.close();
  await discovery.probe(-1);
  expect(discovery.found).toEqual([]);
});

test("probes at the same moment are one request, and so are those within the allowed age", async () => {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  const discovery = discoveryOf(Number(new URL(server.url).port));
  await Promise.all([discovery.probe(60_000), discovery.probe(60_000)]);
  await discovery.probe(60_000);
  expect(server.listRequests).toBe(1);
});

test("a probe that times out counts for the allowed age after its end", async () => {
  const { port, paths } = await serving(() => {});
  const discovery = discoveryOf(port, { probeTimeoutMs: 200 });
  for (let agent = 0; agent < 5; agent++) await discovery.probe(190);
  expect(paths).toHaveLength(1);
});

test("a server that is found stays while it is too busy to answer, and one that never answered is not found", async () => {
  let busy = false;
  const { port } = await serving((request, response) => {
    if (!busy) json({ object: "list", data: [{ id: "a", object: "model" }] })(request, response);
  });
  const discovery = discoveryOf(port, { probeTimeoutMs: 300 });
  // On a busy machine, a probe with this short time limit can miss the server.
  await eventually("the server is found", async () => {
    await discovery.probe(-1);
    return discovery.found.length > 0 || undefined;
  });
  busy = true;
  await discovery.probe(-1);
  expect(discovery.found).toMatchObject([{ models: ["a"] }]);
  const other = discoveryOf(port, { probeTimeoutMs: 50 });
  await other.probe(-1);
  expect(other.found).toEqual([]);
});

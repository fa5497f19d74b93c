import { once } from "node:events";
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  disconnects,
  rejects,
  responds,
  sendsStream,
  startScriptedServer,
} from "../../../client/test/scripted-server.ts";
import { maxInputBytes, maxReceivedBytes } from "../../../contract/src/receiving.ts";
import { createAuthority, selfSigned } from "../../../server/test/certificates.ts";
import { run } from "../run.ts";
import { Interrupted } from "../terminal.ts";

/** Sends scripted responses, for cases that a real server does not produce on demand. */
const server = await startScriptedServer();

/** Runs a command and returns its exit code and its output. */
async function beckon(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  stopped = new AbortController().signal,
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let [out, err] = ["", ""];
  const code = await run(args, {
    env: { BECKON_URL: server.url, BECKON_KEY: "bkw_test", BECKON_TRIGGER: "bkt_test", ...env },
    stopped,
    isOutputTerminal: false,
    isInputTerminal: true,
    out: async (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
    readInput: async () => "",
  });
  return { code, out, err };
}

test("a fire that starts no run prints no id, says so, and exits with 0", async () => {
  server.script(responds(202, { ok: true, skipped: true }));
  const fired = await beckon(["fire", "Hello"]);
  expect(fired).toEqual({ code: 0, out: "", err: expect.stringContaining("started no run") });
  const printed = await beckon(["fire", "Hello", "--json"]);
  expect(printed).toEqual({ code: 0, out: '{"skipped":true}\n', err: "" });
});

test.each([
  ["large numbers keep their digits", '{"id": 9007199254740993, "price": 1.10}'],
  ["also a byte order mark is sent", '\ufeff{"order": 4711}'],
])("fire sends JSON unchanged: %s", async (_what, payload) => {
  server.script(responds(200, { ok: true, run_id: "run_1" }));
  expect((await beckon(["fire", payload])).out).toBe("run_1\n");
  expect(server.requests[0]).toMatchObject({
    body: payload,
    headers: { "content-type": "application/json" },
  });
});

test("invoke sends a file whose request has the largest size", async () => {
  const file = writeInput("x".repeat(maxInputBytes - '{"input":""}'.length));
  server.script(responds(200, { ok: true, run_id: "run_1", output: "Hi" }));
  const invoked = await beckon(["invoke", "agt_1", "--file", file]);
  expect(invoked).toEqual({ code: 0, out: "Hi\n", err: "" });
  expect(server.requests[0]?.body).toHaveLength(maxInputBytes);
});

test.each([
  ["a file above 1 MiB", "x".repeat(maxInputBytes + 1)],
  ["a file of 1 MiB, which JSON makes larger", "x".repeat(maxInputBytes)],
  ["a file of newlines, which JSON escapes", "\n".repeat(600_000)],
])("invoke rejects %s without a request", async (_, input) => {
  server.script(responds(200, { ok: true, run_id: "run_1", output: "Hi" }));
  const { code, err } = await beckon(["invoke", "agt_1", "--file", writeInput(input)]);
  expect([code, err]).toEqual([64, expect.stringContaining(`the maximum is ${maxInputBytes}`)]);
  expect(server.requests).toHaveLength(0);
});

/** Writes a file for `beckon invoke`, and returns its path. */
function writeInput(input: string): string {
  const folder = mkdtempSync(join(tmpdir(), "beckon-invoke-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "input");
  writeFileSync(file, input);
  return file;
}

test("fire sends a file of the largest size that a trigger can accept, and no larger one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "beckon-fire-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "payload");
  writeFileSync(file, "x".repeat(maxReceivedBytes));
  server.script(responds(200, { ok: true, run_id: "run_1" }));
  expect(await beckon(["fire", "--file", file])).toEqual({ code: 0, out: "run_1\n", err: "" });
  expect(server.requests[0]?.body).toHaveLength(maxReceivedBytes);
  truncateSync(file, maxReceivedBytes + 1);
  expect(await beckon(["fire", "--file", file])).toMatchObject({
    code: 64,
    err: expect.stringContaining(`the maximum is ${maxReceivedBytes}`),
  });
});

test.each([
  ["invoke", ["invoke", "agt_1", "Hello"]],
  ["invoke --no-wait", ["invoke", "agt_1", "Hello", "--no-wait"]],
  ["fire", ["fire", "Hello"]],
])("%s sends the run's Idempotency-Key, own id, tags and callback", async (_, args) => {
  server.script(responds(200, { ok: true, run_id: "run_1", output: "Hello" }));
  const callback = "https://example.com/hooks/order-4711";
  const labels = ["--external-id", "order 4711", "--tag", "billing", "--tag", "urgent"];
  const once = ["--idempotency-key", "once-1", "--callback", callback];
  expect(await beckon([...args, ...labels, ...once])).toMatchObject({ code: 0, err: "" });
  expect(server.requests).toMatchObject([
    {
      headers: {
        "idempotency-key": "once-1",
        "beckon-external-id": "order%204711",
        "beckon-tags": "billing,urgent",
        "beckon-callback": callback,
      },
    },
  ]);
});

const text = "x".repeat(1_048_577);

test("apply reads a file above 1 MiB, as export writes it, if it creates little", async () => {
  const large = { name: "Large", instructions: text };
  const document = { beckon: 1, agents: [{ ...large, paused: false, pause_reason: null }] };
  server.script(
    responds(200, { ok: true, data: [{ id: "agt_1", name: "Large" }], next: null }),
    responds(200, { ok: true, data: { id: "agt_1", version: 1 } }),
    responds(200, document),
  );
  expect(await beckon(["agents", "apply", writeDocument(document)])).toEqual({
    code: 0,
    out: "Large (agt_1) unchanged\n",
    err: "",
  });
});

test("new agents that are too large for one request are an error before anything is changed", async () => {
  server.script(responds(200, { ok: true, data: [], next: null }));
  const agents = [{ name: "A", instructions: text.slice(9) }, { name: "B" }];
  const result = await beckon(["agents", "apply", writeDocument({ beckon: 1, agents })]);
  const err = expect.stringMatching(/new agents.* 10486\d\d bytes.* 1048576\. Apply some of them/);
  expect(result).toEqual({ code: 64, out: "", err });
  expect(server.requests).toHaveLength(1);
});

test("apply prints warnings about triggers, and which of them need a secret", async () => {
  const document = {
    beckon: 1,
    agents: [{ name: "A", triggers: [{ name: "Old", receiving: {} }, { name: "New" }] }],
  };
  const agent = { name: "A", paused: false, pause_reason: null };
  const hmac = { receiving: { verification: { kind: "hmac" } }, sender_secret_set: false };
  const old = { id: "trg_1", name: "Old", version: "1", receiving: { preset: "github" } };
  const warnings = [
    { part: "verification", message: "It no longer verifies.", line: null },
    { part: "filter", message: "There is no \u009bfield.", line: 2 },
  ];
  const script = () =>
    server.script(
      responds(200, { ok: true, data: [{ id: "agt_1", name: "A" }], next: null }),
      responds(200, { ok: true, data: { id: "agt_1", version: 1 } }),
      responds(200, { beckon: 1, agents: [agent] }),
      responds(200, { ok: true, data: [old], next: null }),
      responds(201, { ok: true, data: hmac }),
      responds(200, { ok: true, data: { receiving: null, warnings } }),
    );
  const file = writeDocument(document);
  script();
  const [first, second] = [
    'The agent "A": The trigger "Old", verification: It no longer verifies.',
    'The agent "A": The trigger "Old", filter, line 2: There is no ',
  ];
  expect(await beckon(["agents", "apply", file])).toEqual({
    code: 0,
    out: "A (agt_1) updated: triggers; set triggers.1.secret\n",
    err: `beckon: ${first}\nbeckon: ${second}\ufffdfield.\n`,
  });
  script();
  const { out, err } = await beckon(["agents", "apply", file, "--json"]);
  expect(JSON.parse(out)).toMatchObject({ secrets_needed: ["triggers.1.secret"] });
  const lines = err.trim().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { warning: first },
    { warning: `${second}\u009bfield.` },
  ]);
});

test.each([
  ["pauses an agent before it changes fields", true, [], ["POST /pause", "PATCH "]],
  [
    "does not resume an agent if a trigger cannot be changed",
    false,
    [{ name: "Old", enabled: false }],
    ["PATCH ", "PATCH /triggers/trg_1"],
  ],
])("apply %s", async (_, paused, triggers, sent) => {
  const file = { name: "A", instructions: "New", paused, triggers };
  const agent = { name: "A", instructions: "Old", paused: !paused, pause_reason: null };
  const trigger = { id: "trg_1", name: "Old", version: "1", enabled: true };
  const reads = [
    responds(200, { ok: true, data: [{ id: "agt_1", name: "A" }], next: null }),
    responds(200, { ok: true, data: { id: "agt_1", version: 1 } }),
    responds(200, { beckon: 1, agents: [agent] }),
    ...triggers.map(() => responds(200, { ok: true, data: [trigger], next: null })),
  ] as const;
  const changes = [responds(200, { ok: true, data: {} }), rejects(412, "stale")] as const;
  server.script(...reads, ...changes);
  const { code } = await beckon(["agents", "apply", writeDocument({ beckon: 1, agents: [file] })]);
  const requests = server.requests.slice(reads.length);
  expect([code, requests.map(({ method, path }) => `${method} ${path}`)]).toEqual([
    1,
    sent.map((each) => each.replace(" ", " /api/public/agents/agt_1")),
  ]);
});

test("a dry run says so in JSON, and does not claim that a new agent needs no secrets", async () => {
  server.script(responds(200, { ok: true, data: [], next: null }));
  const tools = [{ type: "http", name: "shop", headers: { x: { secret: null } }, operations: [] }];
  const file = writeDocument({ beckon: 1, agents: [{ name: "A", tools }] });
  const { out } = await beckon(["agents", "apply", file, "--dry-run", "--json"]);
  expect(JSON.parse(out)).toEqual({ name: "A", action: "created", fields: [], dry_run: true });
});

test("an apply that runs at the same time as another one names both agents that they created", async () => {
  const created = { id: "agt_1", name: "A", token: "bka_1", triggers: [], secrets_needed: [] };
  const both = [
    { id: "agt_1", name: "A" },
    { id: "agt_2", name: "A" },
  ];
  server.script(
    responds(200, { ok: true, data: [], next: null }),
    responds(201, { ok: true, data: { agents: [created] } }),
    responds(200, { ok: true, data: both, next: null }),
  );
  expect(
    await beckon(["agents", "apply", writeDocument({ beckon: 1, agents: [{ name: "A" }] })]),
  ).toEqual({
    code: 1,
    out: "A (agt_1) created\n",
    err: expect.stringContaining('2 agents have the name "A" now: agt_1, agt_2.'),
  });
});

/** Writes a file for `beckon agents apply`, and returns its path. */
function writeDocument(document: object): string {
  const folder = mkdtempSync(join(tmpdir(), "beckon-apply-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "agents.json");
  writeFileSync(file, JSON.stringify(document));
  return file;
}

test("--json escapes control characters of a model, which a terminal would interpret", async () => {
  const [raw, escaped] = ["\u009b31m", '"\\u009b31m"'];
  server.script(responds(200, { ok: true, run_id: "run_1", output: raw }));
  const invoked = await beckon(["invoke", "agt_1", "Hello", "--json"]);
  expect(invoked.out).toBe(`{"run_id":"run_1","output":${escaped}}\n`);
  const event = { run_id: "run_1", seq: 1, type: "run.finished", data: { output: raw } };
  server.script(
    responds(200, { ok: true, data: { id: "run_1" } }),
    sendsStream(`id: 1\ndata: ${JSON.stringify(event)}\n\n`),
  );
  const tail = await beckon(["runs", "tail", "run_1", "--json"]);
  expect([tail.code, tail.out]).toEqual([0, expect.stringContaining(`"output":${escaped}`)]);
});

test.each([
  ["as text", []],
  ["as JSON", ["--json"]],
])("a tail prints %s, with all digits of large integers", async (_, options) => {
  const event = '{"run_id":"run_1","seq":1,"type":"run.finished","data":{"id":-9007199254740993}}';
  server.script(
    responds(200, { ok: true, data: { id: "run_1" } }),
    sendsStream(`id: 1\ndata: ${event}\n\n`),
  );
  const { out } = await beckon(["runs", "tail", "run_1", ...options]);
  expect(out).toContain('{"id":-9007199254740993}');
});

test.each([
  ["as text", [], "beckon: The connection is lost. Reconnecting.\n"],
  ["as JSON", ["--json"], '{"warning":"The connection is lost. Reconnecting."}\n'],
])("a tail whose connection is lost says so %s", async (_, options, err) => {
  const event = (seq: number, type: string) =>
    `id: ${seq}\ndata: ${JSON.stringify({ run_id: "run_1", seq, type, data: {} })}\n\n`;
  server.script(
    responds(200, { ok: true, data: { id: "run_1" } }),
    sendsStream(`retry: 10\n\n${event(1, "run.started")}`),
    sendsStream(event(2, "run.finished")),
  );
  expect(await beckon(["runs", "tail", "run_1", ...options])).toMatchObject({ code: 0, err });
});

test("a fire that a trigger cannot verify says why, and as JSON has the request id", async () => {
  const error = "The header x-signature is missing. Sign the request with the trigger's secret.";
  const body = { ok: false, error, code: "unauthorized" };
  const rejects = responds(401, body, { "beckon-request-id": "0123" });
  server.script(rejects, rejects);
  const { code, err } = await beckon(["fire", "Hello"]);
  expect([code, err]).toEqual([77, expect.stringContaining(error)]);
  const printed = await beckon(["fire", "Hello", "--json"]);
  expect(JSON.parse(printed.err)).toEqual({
    ...body,
    error: expect.stringContaining(error),
    request_id: "0123",
  });
});

test.each([
  ["succeeded", 0],
  ["failed", 1],
])(
  "a tail that begins after the last event of a run that has %s exits with %i",
  async (status, code) => {
    server.script(
      responds(200, { ok: true, data: { id: "run_1", status } }),
      (response) => void response.writeHead(204).end(),
      responds(200, { ok: true, data: { id: "run_1", status } }),
    );
    expect((await beckon(["runs", "tail", "run_1", "--after", "5"])).code).toBe(code);
  },
);

test.each([
  ["of a run exits with 130, because the run has not succeeded", ["run_1"], 130],
  ["of the workspace exits with 0", [], 0],
])("an interrupted tail %s", async (_, names, code) => {
  const interruption = new AbortController();
  server.script(
    responds(200, { ok: true, data: names.length === 0 ? [] : { id: "run_1" }, next: null }),
    () => interruption.abort(new Interrupted()),
  );
  expect((await beckon(["runs", "tail", ...names], {}, interruption.signal)).code).toBe(code);
});

test("BECKON_URL can have spaces around it, and its scheme capital letters", async () => {
  server.script(responds(200, { ok: true, run_id: "run_1" }));
  const env = { BECKON_URL: `${server.url.replace("http:", "HTTP:")}/ ` };
  expect(await beckon(["fire", "Hello"], env)).toEqual({ code: 0, out: "run_1\n", err: "" });
});

test("a trigger's URL with a user is a wrong setting, and no error shows it", async () => {
  const trigger = `${server.url.replace("//", "//ada:hidden@")}/api/public/triggers/bkt_secret`;
  server.script(responds(200, { ok: true, run_id: "run_1" }));
  const { code, err } = await beckon(["fire", "Hello"], { BECKON_TRIGGER: trigger });
  expect([code, err]).toEqual([78, expect.stringContaining("without user and password")]);
  expect(err).not.toMatch(/hidden|secret/);
  expect(server.requests).toHaveLength(0);
});

const starts = [
  ["invoke", ["invoke", "agt_1", "Hello"]],
  ["invoke --no-wait", ["invoke", "agt_1", "Hello", "--no-wait"]],
  ["fire", ["fire", "Hello"]],
] as const;

test.each(starts)(
  "a lost response of %s: the error names the key to repeat it",
  async (_, args) => {
    // The client does not wait as long as the second response asks, so it sends no third request.
    server.script(disconnects, rejects(429, "agent_busy", { "retry-after": "120" }));
    const { code, err } = await beckon(args);
    expect(code).toBe(75);
    const keys = new Set(server.requests.map(({ headers }) => headers["idempotency-key"]));
    expect([server.requests.length, keys.size]).toEqual([2, 1]);
    expect(err).toContain(
      "It is not known whether the run was started. Repeat the command with --idempotency-key " +
        `${[...keys][0]} within a day`,
    );
  },
);

test("an invoke that no longer waits says by its exit code that the run continues", async () => {
  server.script(responds(202, { ok: true, run_id: "run_1", status: "running" }));
  const args = ["invoke", "agt_1", "Hello", "--timeout", "3", "--json"];
  const { code, err } = await beckon(args);
  expect([code, JSON.parse(err)]).toMatchObject([124, { code: "timed_out", run_id: "run_1" }]);
});

test.each([
  ["is self-signed", selfSigned()],
  ["has an authority that is not trusted", createAuthority().issue()],
])("an invoke is not repeated if the certificate %s, and has started no run", async (_, given) => {
  let connections = 0;
  const tlsServer = createServer(given).listen(0, "127.0.0.1");
  tlsServer.on("connection", () => connections++);
  onTestFinished(() => void tlsServer.close());
  await once(tlsServer, "listening");
  const { port } = tlsServer.address() as AddressInfo;
  const env = { BECKON_URL: `https://127.0.0.1:${port}` };
  const { code, err } = await beckon(["invoke", "agt_1", "Hello"], env);
  expect([code, connections, err]).toEqual([78, 1, expect.stringContaining("NODE_EXTRA_CA_CERTS")]);
  expect(err).not.toContain("not known");
});

test.each(starts)("as JSON, %s prints the key that repeats it safely", async (_, args) => {
  const interruption = new AbortController();
  server.script(disconnects, rejects(429, "agent_busy", { "retry-after": "120" }));
  const rejected = await beckon([...args, "--json"]);
  const key = server.requests[0]?.headers["idempotency-key"];
  expect([rejected.code, JSON.parse(rejected.err)]).toMatchObject([75, { idempotency_key: key }]);
  server.script(() => interruption.abort(new Interrupted()));
  const { code, err } = await beckon([...args, "--json"], {}, interruption.signal);
  const { "idempotency-key": interrupted } = server.requests[0]?.headers ?? {};
  expect([code, JSON.parse(err)]).toMatchObject([130, { idempotency_key: interrupted }]);
});

test.each(starts)("Ctrl-C during %s names the key that repeats it safely", async (_, args) => {
  const interruption = new AbortController();
  server.script(() => interruption.abort(new Interrupted()));
  const { code, err } = await beckon(args, {}, interruption.signal);
  expect(code).toBe(130);
  expect(err).toContain(`--idempotency-key ${server.requests[0]?.headers["idempotency-key"]} `);
});

test("Ctrl-C during an invoke names the run if it is known, which takes --wait seconds", async () => {
  const interruption = new AbortController();
  const args = ["invoke", "agt_1", "Hello", "--wait", "3", "--json"];
  server.script(responds(202, { ok: true, run_id: "run_1", status: "running" }), () =>
    interruption.abort(new Interrupted()),
  );
  const { code, err } = await beckon(args, {}, interruption.signal);
  expect([code, JSON.parse(err)]).toEqual([
    130,
    {
      ok: false,
      code: "interrupted",
      error: "Interrupted. run_1 continues. Follow it: beckon runs tail run_1",
      run_id: "run_1",
    },
  ]);
  expect(server.requests.map(({ headers }) => headers.prefer)).toEqual(["wait=3", "wait=3"]);
});

test.each(["0", "86401", "1.5"])("a --wait of %s seconds is rejected", async (wait) => {
  const { code, err } = await beckon(["invoke", "agt_1", "Hello", "--wait", wait]);
  expect([code, err]).toEqual([64, expect.stringContaining("1 to 86400")]);
});

test("a key whose response is lost may exist, and the error says what to do about it", async () => {
  const args = ["keys", "create", "CI", "--preset", "invoke"];
  const explanation = "If the key was created, it cannot be shown again. Revoke it";
  server.script(disconnects);
  const lost = await beckon(args);
  expect(lost).toMatchObject({ code: 75, err: expect.stringContaining(explanation) });
  server.script(rejects(400, "bad_request"));
  const rejected = await beckon(args);
  expect(rejected).toMatchObject({ code: 1, err: expect.not.stringContaining(explanation) });
});

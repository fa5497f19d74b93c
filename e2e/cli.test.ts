import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
} from "vitest";
import {
  blackHole,
  type ModelServer,
  startModelServer,
  status,
} from "../server/test/model-server.ts";
import {
  checkout,
  freePort,
  type Product,
  startProduct,
  temporaryFolder,
  until,
} from "./product.ts";

/** Runs every command of `beckon` against one server, which was started by `beckon start`. */

const folder = temporaryFolder();
const beckon = [
  process.execPath,
  "--disable-warning=ExperimentalWarning",
  join(checkout, "cli/src/main.ts"),
] as const;
let product: Product;
let key: string;
let model: ModelServer;

beforeAll(async () => {
  model = await startModelServer();
  product = await startProduct(
    {
      PORT: String(await freePort()),
      BECKON_DATA_DIR: join(folder, "data"),
      OPENAI_BASE_URL: model.url,
    },
    [...beckon, "start"],
    folder,
  );
  key = readFileSync(join(folder, "data/bootstrap.key"), "utf8").trim();
  const agent = { name: "Scripted", model: "openai-chat/scripted", limits: { max_attempts: 1 } };
  const input = JSON.stringify({ beckon: 1, agents: [agent] });
  expect((await cli(["agents", "apply", "-"], { input })).code).toBe(0);
});
const launched: ChildProcess[] = [];
afterEach(() => {
  for (const child of launched.splice(0)) child.kill("SIGKILL");
});
afterAll(() => model.close());
beforeEach(() => model.reset());

interface Result {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Options {
  readonly env?: Record<string, string>;
  readonly input?: string | Buffer;
}

function launchCli(args: readonly string[], { env = {}, input }: Options = {}): ChildProcess {
  // With the cache, a start of the command takes half as much CPU.
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const child = spawn(beckon[0], [...beckon.slice(1), ...args], {
    cwd: folder,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    env: { PATH, NODE_COMPILE_CACHE, BECKON_URL: product.url, BECKON_KEY: key, ...env },
  });
  child.stdin?.end(input);
  launched.push(child);
  return child;
}

async function cli(args: readonly string[], options: Options = {}): Promise<Result> {
  const child = launchCli(args, options);
  const [out, err, code] = await Promise.all([
    textOf(child.stdout),
    textOf(child.stderr),
    new Promise<number | null>((resolve) => child.once("exit", resolve)),
  ]);
  // No command prints its key or the trigger's token.
  for (const secret of [key, triggerToken()]) expect(out + err).not.toContain(secret);
  return { code, out, err };
}

async function textOf(stream: Readable | null): Promise<string> {
  return Buffer.concat((await stream?.toArray()) ?? []).toString();
}

const done = (out: unknown) => ({ code: 0, out, err: "" });
const agentId = () => product.demo().id;
const triggerToken = () => String(product.demo().triggerUrl.split("/").at(-1));

test("--version and --help of each command exit with 0, and the server's start prints its version", async () => {
  const { version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
  expect(product.output()).toContain(`Beckon ${version} is ready`);
  expect(await cli(["--version"])).toEqual(done(`Beckon ${version}\n`));
  expect(await cli(["start", "--version"])).toEqual(done(`Beckon ${version}\n`));
  const commands = [
    ["--help"],
    ["help", "start"],
    ...["start", "doctor", "invoke", "fire", "backup", "restore", "completion"].map((name) => [
      name,
      "--help",
    ]),
    ...["runs tail", "agents export", "agents apply", "keys create"].map((name) => [
      ...name.split(" "),
      "--help",
    ]),
  ];
  for (const result of await Promise.all(commands.map((args) => cli(args)))) {
    expect(result).toEqual(done(expect.stringMatching(/Usage: beckon/)));
  }
});

describe("invoke", () => {
  test("prints the output of an agent by id or name, from an argument or a pipe", async () => {
    expect(await cli(["invoke", agentId(), "Hello"])).toEqual(done("Hello\n"));
    expect(await cli(["invoke", "Demo", "-"], { input: "Piped" })).toEqual(done("Piped\n"));
    const { token } = product.demo();
    const env = { BECKON_KEY: token };
    expect(await cli(["invoke", agentId(), "With a token"], { env })).toEqual(
      done("With a token\n"),
    );
  });

  test("with --json prints the run, and an Idempotency-Key starts one run", async () => {
    const args = ["invoke", agentId(), "Once", "--json", "--idempotency-key", "once-1"];
    const first = await cli(args);
    expect(JSON.parse(first.out)).toEqual({ run_id: expect.any(String), output: "Once" });
    expect(await cli(args)).toEqual(first);
    const started = await cli(["invoke", agentId(), "Later", "--no-wait"]);
    expect(started).toEqual(done(expect.stringMatching(/^run_\w+\n$/)));
  });

  test("a failed run exits with 1 and its code, the message names the run", async () => {
    model.script(status(400));
    const { code, out, err } = await cli(["invoke", "Scripted", "Hello", "--json"]);
    expect([code, out]).toEqual([1, ""]);
    expect(JSON.parse(err)).toMatchObject({
      ok: false,
      code: "model_error",
      run_id: expect.stringMatching(/^run_/),
    });
  });

  test("Ctrl-C ends the wait with 130, and the run continues", async () => {
    model.script(blackHole);
    const child = launchCli(["invoke", "Scripted", "Hello"]);
    const err = textOf(child.stderr);
    await until("the model's call", () => model.requests.length > 0);
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    expect(await exited).toBe(130);
    expect(await err).toMatch(/^beckon: Interrupted\. .* If it was, it continues\. Repeat /);
  });
});

test("fire takes the trigger from the environment or a file, never from an argument", async () => {
  const { triggerUrl } = product.demo();
  const fired = await cli(["fire", '{"order": 4711}'], { env: { BECKON_TRIGGER: triggerUrl } });
  expect(fired).toEqual(done(expect.stringMatching(/^run_\w+\n$/)));
  const file = product.printed("Demo trigger");
  const { code, out } = await cli(["fire", "--trigger-file", file, "--json"], { input: "text" });
  expect([code, JSON.parse(out)]).toEqual([0, { run_id: expect.any(String) }]);
  const missing = await cli(["fire", "x"]);
  expect(missing).toMatchObject({ code: 78, err: expect.stringContaining("Set BECKON_TRIGGER") });
  const wrong = await cli(["fire", "x"], { env: { BECKON_TRIGGER: "bkt_unknown" } });
  expect(wrong).toMatchObject({
    code: 77,
    out: "",
    err: expect.stringContaining("BECKON_TRIGGER"),
  });
  expect(wrong.err).not.toContain("bkt_unknown");
});

test("an input that is not UTF-8 is rejected and not sent, from a file and from a pipe", async () => {
  const input = Buffer.from([0x4d, 0xfc]);
  const file = join(folder, "latin1.txt");
  writeFileSync(file, input);
  const results = [
    await cli(["invoke", "Scripted", "--file", file]),
    await cli(["invoke", "Scripted", "-"], { input }),
  ];
  for (const [index, source] of [file, "Standard input"].entries())
    expect(results[index]).toEqual({
      code: 64,
      out: "",
      err: `beckon: ${source} is not UTF-8. Convert it, for example with iconv.\n`,
    });
  expect(model.requests).toEqual([]);
});

test("a byte order mark is part of the input", async () => {
  const input = "\ufeffHello";
  expect(await cli(["invoke", "Demo", "-"], { input })).toEqual(done("\ufeffHello\n"));
});

test("a payload above 1 MiB is sent, and the server's error names the trigger's limit", async () => {
  const env = { BECKON_TRIGGER: product.demo().triggerUrl };
  const { code, err } = await cli(["fire", "-"], { env, input: "x".repeat(1_048_577) });
  expect([code, err]).toEqual([1, expect.stringContaining("1 MiB")]);
});

describe("runs tail", () => {
  test("prints a run with its output until it ends, and exits by its result", async () => {
    const run = (await cli(["invoke", agentId(), "One two", "--no-wait"])).out.trim();
    const tailed = await cli(["runs", "tail", run]);
    expect(tailed).toEqual(done(expect.stringMatching(/run\.started[\s\S]*run\.finished/)));
    model.script(status(400));
    const failing = await cli(["invoke", "Scripted", "Hello", "--no-wait"]);
    const { code, out } = await cli(["runs", "tail", failing.out.trim(), "--json"]);
    const types = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).type);
    expect([code, types[0], types.at(-1)]).toEqual([1, "run.started", "run.failed"]);
  });

  test("prints the workspace's events as they occur, and Ctrl-C exits with 0", async () => {
    const child = launchCli(["runs", "tail", "--agent", "Demo", "--json"]);
    let out = "";
    child.stdout?.on("data", (chunk) => {
      out += chunk;
    });
    await until("the stream", () => out.includes("stream.opened"));
    const run = (await cli(["invoke", agentId(), "Live", "--no-wait"])).out.trim();
    await until("the run's end", () =>
      out.split("\n").some((line) => line.includes(run) && line.includes("run.finished")),
    );
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    expect(await exited).toBe(0);
  });

  test("a reader that closes the pipe is no error", async () => {
    const run = (await cli(["invoke", agentId(), "Piped", "--no-wait"])).out.trim();
    const child = launchCli(["runs", "tail", "--json", "--after", "0", run]);
    const err = textOf(child.stderr);
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.stdout?.destroy();
    expect([await exited, await err]).toEqual([0, ""]);
  });
});

describe("agents", () => {
  test("apply creates agents, changes only what differs, and export shows the result", async () => {
    const file = join(folder, "agents.yaml");
    const tool = (secret: string) => `
  tools:
  - type: http
    name: shop
    allowed_hosts: [api.example.com]
    headers:
      Authorization: {secret: ${secret}, prefix: "Bearer "}
    operations:
    - name: list_orders
      description: Lists the latest orders.
      method: GET
      url: https://api.example.com/v1/orders
  triggers:
  - name: New order`;
    const write = (instructions: string, secret: string) =>
      writeFileSync(
        file,
        `beckon: 1\nagents:\n- name: Applied\n  model: demo/echo\n  instructions: ${instructions}${tool(secret)}\n`,
      );
    write("First", "secret-0123456789");
    const planned = await cli(["agents", "apply", file, "--dry-run"]);
    expect(planned).toEqual(done("Applied would be created\n"));
    const created = await cli(["agents", "apply", file]);
    expect(created).toEqual(done(expect.stringMatching(/^Applied \(agt_\w+\) created\n$/)));

    write("First", "null");
    expect((await cli(["agents", "apply", file])).out).toMatch(/ unchanged\n$/);
    write("Second", "null");
    const input = readFileSync(file, "utf8");
    const updated = await cli(["agents", "apply", "-", "--json"], { input });
    expect(JSON.parse(updated.out)).toMatchObject({ action: "updated", fields: ["instructions"] });

    // A change of an operation's description keeps the stored secret of the tool.
    writeFileSync(file, readFileSync(file, "utf8").replace("the latest", "all"));
    expect((await cli(["agents", "apply", file])).out).toMatch(/ updated: tools\n$/);
    const exported = await cli(["agents", "export", "Applied"]);
    expect(exported).toEqual(done(expect.stringMatching(/instructions: Second/)));
    expect(exported.out).not.toContain("secret-0123456789");
    writeFileSync(file, exported.out);
    expect((await cli(["agents", "apply", file])).out).toMatch(/ unchanged\n$/);

    // An export has null for a model setting that is not set, so `apply` unsets it.
    const set = exported.out.replace("temperature: null", "temperature: 0.7");
    for (const input of [set, exported.out]) {
      const { out } = await cli(["agents", "apply", "-"], { input });
      expect(out).toMatch(/ updated: model_settings\n$/);
    }

    // If the header is removed from the file, `apply` also removes the header's stored secret.
    const tools = readFileSync(file, "utf8").replace(/headers:\s+Authorization:\s+secret:.*/, "");
    writeFileSync(file, tools.replace(/^ *prefix:.*\n/m, ""));
    expect((await cli(["agents", "apply", file])).out).toMatch(/ updated: tools\n$/);
    expect((await cli(["agents", "export", "Applied"])).out).not.toContain("secret");
    expect((await cli(["agents", "apply", file])).out).toMatch(/ unchanged\n$/);
    const all = JSON.parse((await cli(["agents", "export", "--json"])).out);
    expect(all.agents.map(({ name }: { name: string }) => name)).toContain("Applied");
  });

  test("apply leaves a trigger unchanged whose file names a preset, or omits defaults", async () => {
    const input = `beckon: 1
agents:
- name: Receiving
  model: demo/echo
  triggers:
  - {name: GitHub, receiving: {preset: github, event_id_days: 3}}
  - {name: Held, receiving: {when_paused: hold, bodies: {xml: true}}}
`;
    const apply = (text: string) => cli(["agents", "apply", "-"], { input: text });
    expect((await apply(input)).out).toMatch(/ created; set triggers\.0\.secret\n$/);
    expect((await apply(input)).out).toMatch(/ unchanged\n$/);
    const changed = input.replace("event_id_days: 3", "event_id_days: 4");
    expect((await apply(changed)).out).toMatch(/ updated: triggers; set triggers\.0\.secret\n$/);
    expect((await apply(changed)).out).toMatch(/ unchanged\n$/);
    const more = `${changed}  - {name: Added, receiving: {preset: github}}\n`;
    expect((await apply(more)).out).toMatch(/ updated: triggers; set triggers\.2\.secret\n$/);
  });

  test("apply changes the reason of an agent that is paused already", async () => {
    const apply = (reason: string) =>
      cli(["agents", "apply", "-"], {
        input: `beckon: 1\nagents: [{name: Paused, model: demo/echo, paused: true, pause_reason: ${reason}}]\n`,
      });
    expect((await apply("Holidays")).out).toMatch(/ created\n$/);
    expect((await apply("Audit")).out).toMatch(/ updated: pause_reason\n$/);
    expect((await cli(["agents", "export", "Paused"])).out).toContain("pause_reason: Audit");
  });

  test("a file that cannot be applied is explained and changes nothing", async () => {
    for (const [text, reason] of [
      ["agents: []", "beckon: 1"],
      ["beckon: 1\nagents: [{name: A}, {name: A}]", "Two agents"],
      ["beckon: 1\nagents: [{name: A", "not valid YAML"],
      ["beckon: 1\nagents: []", "no agents"],
    ] as const) {
      const result = await cli(["agents", "apply", "-"], { input: text });
      expect(result).toMatchObject({ code: 64, out: "", err: expect.stringContaining(reason) });
    }
    const missing = await cli(["agents", "apply", "nowhere.yaml"]);
    expect(missing).toMatchObject({ code: 64, err: expect.stringContaining("ENOENT") });
  });

  test("errors of the server name the agent, a new one and an existing one", async () => {
    for (const [agents, reason] of [
      ["{name: Demo}, {name: A new one, modl: x}", 'field "A new one".modl'],
      ["{name: A new one, model: none/x}", '"A new one": model: there is no provider none'],
      ["{name: Demo, modl: x}", 'The agent "Demo": unknown field modl'],
    ] as const) {
      const input = `beckon: 1\nagents: [${agents}]\n`;
      const result = await cli(["agents", "apply", "-"], { input });
      expect(result).toMatchObject({ code: 1, out: "", err: expect.stringContaining(reason) });
    }
  });
});

test("keys create prints the key once, or writes it to a new file that only its owner reads", async () => {
  const printed = await cli(["keys", "create", "Printed", "--preset", "observer"]);
  expect(printed.out).toMatch(/^bkw_\S+\n$/);
  const env = { BECKON_KEY: printed.out.trim() };
  expect((await cli(["agents", "export"], { env })).code).toBe(0);

  // If no key was created, the command leaves no file. An existing file would be rejected when the
  // command is repeated.
  const rejected = join(folder, "rejected.key");
  const asObserver = ["keys", "create", "Denied", "--preset", "invoke", "--write", rejected];
  expect((await cli(asObserver, { env })).code).toBe(77);
  expect(existsSync(rejected)).toBe(false);

  const file = join(folder, "written.key");
  const args = ["keys", "create", "Written", "--scope", "runs:read", "--agent", "Demo"];
  const written = await cli([...args, "--expires-in-days", "7", "--write", file]);
  expect(written).toEqual({ code: 0, out: "", err: expect.stringMatching(/^Key key_\S+ expires/) });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const denied = await cli(["agents", "export", "--key-file", file]);
  expect(denied).toMatchObject({ code: 77, out: "" });
  expect(await cli([...args, "--write", file])).toMatchObject({
    code: 64,
    err: expect.stringContaining("exists already"),
  });
});

test.each([
  [["nonsense"], 64, "unknown command"],
  [["invoke"], 64, "missing required argument"],
  [["invoke", "agt_1", "x", "--nonsense"], 64, "unknown option"],
  [["start", "--nonsense"], 64, "Unknown argument"],
  [["invoke", "Nobody", "x"], 64, "No agent has the name"],
  [["invoke", "Demo", ""], 64, "There is no input"],
  [["invoke", "Demo", "x", "--no-wait", "--timeout", "3"], 64, "cannot be used with"],
  [["invoke", "agt_unknown", "x", "--timeout", "0"], 64, "whole number of seconds"],
  [["runs", "tail", "run_unknown"], 1, "run"],
  [["agents", "export", "--url", "ftp://x"], 64, "--url must be an http or https URL"],
  [["keys", "create", "x"], 64, "Give --preset"],
])("%j exits with %i and one clear message", async (args, code, message) => {
  const result = await cli(args);
  expect(result.code).toBe(code);
  expect(result.err + result.out).toContain(message);
  expect(result.err).not.toMatch(/\n\s+at /);
});

test("a missing or wrong key, a wrong address and a server that is away have exit codes", async () => {
  const exportAgents = (env: Record<string, string>) => cli(["agents", "export"], { env });
  expect(await exportAgents({ BECKON_KEY: "" })).toMatchObject({
    code: 78,
    err: expect.stringContaining("Set BECKON_KEY"),
  });
  expect(await exportAgents({ BECKON_KEY: "bkw_wrong" })).toMatchObject({
    code: 77,
    err: expect.stringContaining("Put a valid key into BECKON_KEY"),
  });
  expect((await exportAgents({ BECKON_URL: "nonsense" })).code).toBe(78);
  const url = `http://127.0.0.1:${await freePort()}`;
  expect(await exportAgents({ BECKON_URL: url })).toMatchObject({
    code: 75,
    err: expect.stringContaining(`got no response from ${url}: connect ECONNREFUSED`),
  });
});

describe("doctor", () => {
  const doctor = async (env: Record<string, string>) => {
    const { code, out } = await cli(["doctor", "--json"], {
      env: { BECKON_DISCOVER: "0", BECKON_DATA_DIR: join(folder, "new"), ...env },
    });
    const { findings } = JSON.parse(out) as {
      findings: { area: string; status: string; message: string; remedy: string | null }[];
    };
    for (const { status, remedy } of findings)
      expect(remedy === null).toBe(status === "ok" || status === "skipped");
    return { code, findings };
  };

  test("finds nothing wrong with the settings of a running server, and changes nothing", async () => {
    const openai = await startModelServer();
    onTestFinished(() => openai.close());
    const { code, findings } = await doctor({
      PORT: new URL(product.url).port,
      OPENAI_BASE_URL: openai.url,
      OPENAI_API_KEY: "sk-example",
      BECKON_EGRESS_ALLOW: new URL(openai.url).host,
    });
    expect([
      code,
      findings.filter(({ status }) => status !== "ok" && status !== "skipped"),
    ]).toEqual([0, []]);
    expect(findings.map(({ message }) => message).join("\n")).toMatch(
      /is running[\s\S]*accepts connections[\s\S]*openai responds/,
    );
    expect(existsSync(join(folder, "new"))).toBe(false);
  });

  test("reports each wrong setting without its secret value, with the start's exit code", async () => {
    const secret = randomBytes(4).toString("hex");
    const { code, findings } = await doctor({ BECKON_MASTER_KEY: secret, PORT: "x" });
    const problems = findings.filter(({ status }) => status === "problem");
    expect([code, problems.length]).toEqual([78, 2]);
    expect(JSON.stringify(findings)).not.toContain(secret);
  });

  test("reports a database, an allowed address and a provider that cannot be reached", async () => {
    const port = await freePort();
    const { code, findings } = await doctor({
      PORT: "0",
      DATABASE_URL: `postgresql://beckon:hidden-word@127.0.0.1:${port}/beckon`,
      BECKON_MASTER_KEY: randomBytes(32).toString("base64"),
      BECKON_EGRESS_ALLOW: `127.0.0.1:${port}`,
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
    });
    const problems = findings.filter(({ status }) => status === "problem");
    expect([code, problems.map(({ area }) => area)]).toEqual([
      75,
      ["database", "egress", "providers", "providers"],
    ]);
    expect(JSON.stringify(findings)).not.toContain("hidden-word");
    const text = await cli(["doctor"], { env: { PORT: "x" } });
    expect([text.code, text.out]).toEqual([78, expect.stringMatching(/PROBLEM.*\n +→ /)]);
  });
});

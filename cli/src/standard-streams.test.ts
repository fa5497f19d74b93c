import { type ChildProcess, spawn } from "node:child_process";
import { openSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { responds, startScriptedServer } from "../../client/test/scripted-server.ts";

const server = await startScriptedServer();

type Output = "pipe" | number;

/** Launches a command whose process writes to real pipes and files. */
function launch(
  args: readonly string[],
  input = "",
  [out, err]: [Output, Output] = ["pipe", "pipe"],
) {
  const main = join(import.meta.dirname, "main.ts");
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ["pipe", out, err],
    env: {
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      BECKON_URL: server.url,
      BECKON_KEY: "bkw_test",
      BECKON_TRIGGER: "bkt_test",
    },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin?.end(input);
  return child;
}

async function resultOf(child: ChildProcess) {
  let err = "";
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    err += text;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, err };
}

const document = { beckon: 1, agents: ["A", "B"].map((name) => ({ name, instructions: "New" })) };

/** Scripts the responses to an apply of `document`, which updates both of its agents. */
function scriptApply() {
  const agent = (id: string) => responds(200, { ok: true, data: { id, version: 1 } });
  const exported = (name: string) =>
    responds(200, { beckon: 1, agents: [{ name, paused: false, pause_reason: null }] });
  const agents = [
    { id: "agt_1", name: "A" },
    { id: "agt_2", name: "B" },
  ];
  server.script(
    responds(200, { ok: true, data: agents, next: null }),
    agent("agt_1"),
    exported("A"),
    agent("agt_2"),
    exported("B"),
    agent("agt_1"),
    agent("agt_2"),
  );
}
const changed = () =>
  server.requests.filter(({ method }) => method === "PATCH").map(({ path }) => path);
const both = ["/api/public/agents/agt_1", "/api/public/agents/agt_2"];

test("an apply whose reader closes the pipe makes all changes", async () => {
  scriptApply();
  const child = launch(["agents", "apply", "-"], JSON.stringify(document));
  child.stdout?.destroy();
  expect(await resultOf(child)).toEqual({ code: 0, err: "" });
  expect(changed()).toEqual(both);
});

test("an apply whose output cannot be written makes all changes, and then says so", async () => {
  scriptApply();
  const full = openSync("/dev/full", "w");
  const child = launch(["agents", "apply", "-"], JSON.stringify(document), [full, "pipe"]);
  expect(await resultOf(child)).toEqual({
    code: 1,
    err: expect.stringMatching(/^beckon: Standard output cannot be written \(ENOSPC\)\./),
  });
  expect(changed()).toEqual(both);
});

test("a closed standard error ends no command", async () => {
  scriptApply();
  const child = launch(["agents", "apply", "-"], JSON.stringify(document));
  child.stderr?.destroy();
  expect((await resultOf(child)).code).toBe(0);
  server.script(responds(202, { ok: true, skipped: true }));
  const fire = launch(["fire", "Hello"]);
  fire.stderr?.destroy();
  expect((await resultOf(fire)).code).toBe(0);
  server.script(responds(409, { ok: false, error: "Paused.", code: "agent_paused" }));
  const failing = launch(["fire", "Hello"]);
  failing.stderr?.destroy();
  expect((await resultOf(failing)).code).toBe(1);
});

test.each([[["--help"]], [["completion", "bash"]], [["invoke", "agt_1", "Hello"]]])(
  "%j says that its output cannot be written, and is no error if the reader closes the pipe",
  async (args) => {
    server.script(responds(200, { ok: true, run_id: "run_1", output: "Hello" }));
    const full = await resultOf(launch(args, "", [openSync("/dev/full", "w"), "pipe"]));
    expect(full).toEqual({ code: 1, err: expect.stringContaining("(ENOSPC)") });
    const child = launch(args);
    child.stdout?.destroy();
    expect(await resultOf(child)).toEqual({ code: 0, err: "" });
  },
);

test.each([
  [["invoke", "agt_1", "Hello"]],
  [["invoke", "agt_1", "Hello", "--no-wait"]],
  [["fire", "Hello"]],
])("%j names the run that it started if its output cannot be written", async (args) => {
  const failing = (options: readonly string[]) =>
    resultOf(launch([...args, ...options], "", [openSync("/dev/full", "w"), "pipe"]));
  server.script(responds(200, { ok: true, run_id: "run_1", output: "Hello" }));
  expect(await failing([])).toEqual({
    code: 1,
    err: expect.stringMatching(
      /^beckon: The run run_1 was started, but .+ beckon runs tail run_1\n$/,
    ),
  });
  const { code, err } = await failing(["--json"]);
  expect([code, JSON.parse(err)]).toMatchObject([1, { code: "not_written", run_id: "run_1" }]);
});

test("a key that cannot be printed is named, because it is shown only once", async () => {
  const key = { id: "key_1", key: "bkw_secret", expires_at: null };
  const args = ["keys", "create", "CI", "--preset", "invoke"];
  server.script(responds(201, { ok: true, data: key }));
  const child = launch(args);
  child.stdout?.destroy();
  const failure = { code: 1, err: expect.stringContaining("The key key_1 was created, but") };
  expect(await resultOf(child)).toEqual(failure);
  expect(
    await resultOf(launch([...args, "--json"], "", [openSync("/dev/full", "w"), "pipe"])),
  ).toEqual(failure);
});

test.each([
  ["invoke", ["invoke", "agt_1", "--key-file", "-"]],
  ["invoke --file -", ["invoke", "agt_1", "--file", "-", "--key-file", "-"]],
  ["fire -", ["fire", "-", "--trigger-file", "-"]],
  ["fire --file -", ["fire", "--file", "-", "--trigger-file", "-"]],
  ["agents apply -", ["agents", "apply", "-", "--key-file", "-"]],
])("%s says that it cannot read standard input twice, and sends nothing", async (_, args) => {
  server.script(responds(200, { ok: true, run_id: "run_1" }));
  const input = args[0] === "agents" ? JSON.stringify(document) : "bkt_test";
  expect(await resultOf(launch(args, input))).toEqual({
    code: 64,
    err: expect.stringMatching(/^beckon: Standard input can be read only once\. /),
  });
  expect(server.requests).toHaveLength(0);
});

test("fire without a payload can read the trigger from standard input", async () => {
  server.script(responds(200, { ok: true, run_id: "run_1" }));
  const result = await resultOf(launch(["fire", "--trigger-file", "-"], "bkt_piped\n"));
  expect(result).toEqual({ code: 0, err: "" });
  expect(server.requests).toMatchObject([{ path: "/api/public/triggers/bkt_piped", body: "" }]);
});

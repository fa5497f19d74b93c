import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type GreetingOptions, greeting } from "./greeting.ts";
import type { Ready } from "./messages.ts";

const url = "http://127.0.0.1:3000";
const demo = {
  agent_id: "agt_1",
  agent_token: "bka_1",
  trigger_url: `${url}/t/bkt_1`,
  is_offered: true,
};
const ready: Ready = {
  type: "ready",
  url,
  listening_url: url,
  demo: null,
  setup_token: null,
  providers: [],
};

function greet({
  ready: given,
  ...options
}: Partial<Omit<GreetingOptions, "ready">> & { ready?: Partial<Ready> } = {}): string {
  return greeting({
    version: "1.2.3",
    ready: { ...ready, ...given },
    demoFiles: { token: undefined, trigger: undefined },
    hasBootstrapKey: true,
    bootstrapKeyPath: undefined,
    setupLink: true,
    postgres: undefined,
    cwd: "/",
    ...options,
  });
}

const filesIn = (folder: string) => ({
  token: { path: join(folder, "demo.token"), error: undefined },
  trigger: { path: join(folder, "demo.trigger"), error: undefined },
});

const commands = (text: string) =>
  [...text.matchAll(/^ {2}(curl .*)$/gm)].map(([, line]) => line ?? "");

/** Returns the arguments that a shell in the folder `cwd` would pass to curl for this command. */
function argumentsOf(command: string, cwd = "/"): string[] {
  const script = command.replace(/^curl /, "printf '%s\\n' ");
  return execFileSync("sh", ["-c", script], { encoding: "utf8", cwd }).trim().split("\n");
}

test("it prints version and address, and where Beckon listens if that is another address", () => {
  expect(greet()).toContain("\nBeckon 1.2.3 is ready at http://127.0.0.1:3000\n");
  expect(greet()).not.toContain("Listening on");
  const proxied = greet({ ready: { url: "https://agents.example.com" } });
  expect(proxied).toContain("Beckon 1.2.3 is ready at https://agents.example.com\n");
  expect(proxied).toContain("Listening on     http://127.0.0.1:3000\n");
});

test("it prints a model of each model server that was found, and the accounts", () => {
  const printed = greet({
    ready: {
      providers: [
        { name: "openai", origin: "environment", model: null },
        { name: "ollama", origin: "discovered", model: "ollama/qwen3" },
      ],
    },
  });
  expect(printed).toContain("Models found     openai/…, ollama/qwen3\n");
  expect(greet()).not.toContain("Models found");
});

test("as long as there is no owner it has a link for the first, with the token after a #", () => {
  const printed = greet({ ready: { setup_token: "bks_abc" } });
  expect(printed).toContain("\n  http://127.0.0.1:3000/setup#token=bks_abc\n");
  expect(greet()).not.toContain("setup");
});

test("the command for the first owner has a body that a shell passes on unchanged", () => {
  const [command = ""] = commands(greet({ ready: { setup_token: "bks_abc" } }));
  const args = argumentsOf(command);
  expect(args.slice(0, -1)).toEqual([
    "http://127.0.0.1:3000/api/public/setup",
    "-H",
    "Content-Type: application/json",
    "-d",
  ]);
  expect(JSON.parse(args.at(-1) ?? "")).toMatchObject({
    token: "bks_abc",
    email: "you@example.com",
  });
});

test.each(["plain", "with a space", "it's", "-dash", '$HOME `id` "x"'])(
  "a shell reads the demo agent's secrets from the data folder %j, and the text shows none",
  (name) => {
    const parent = mkdtempSync(join(tmpdir(), "beckon-greeting-"));
    onTestFinished(() => rmSync(parent, { recursive: true }));
    const folder = join(parent, name);
    execFileSync("mkdir", ["--", folder]);
    writeFileSync(join(folder, "demo.token"), `${demo.agent_token}\n`);
    writeFileSync(join(folder, "demo.trigger"), `${demo.trigger_url}\n`);
    for (const cwd of [parent, folder, "/", undefined]) {
      const printed = greet({ ready: { demo }, demoFiles: filesIn(folder), cwd });
      expect(printed).not.toMatch(/bka_|bkt_/);
      const [invoke = "", fire = ""] = commands(printed);
      expect(argumentsOf(invoke, cwd).slice(0, 3)).toEqual([
        "http://127.0.0.1:3000/api/public/agents/agt_1/invoke",
        "-H",
        "x-api-key: bka_1",
      ]);
      expect(argumentsOf(fire, cwd)[0]).toBe(demo.trigger_url);
    }
  },
);

test("in a terminal, paths in commands are relative to its folder if that is shorter", () => {
  const lines = (cwd: string | undefined) =>
    commands(greet({ ready: { demo }, demoFiles: filesIn("/srv/beckon/data"), cwd }))[1];
  expect(lines("/srv/beckon")).toContain('curl "$(cat data/demo.trigger)"');
  expect(lines("/srv/beckon/data")).toContain('curl "$(cat demo.trigger)"');
  expect(lines("/home/ada/projects")).toContain('curl "$(cat /srv/beckon/data/demo.trigger)"');
  expect(lines(undefined)).toContain('curl "$(cat /srv/beckon/data/demo.trigger)"');
});

test("a secret that is gone has no command", () => {
  const { token } = filesIn("/data");
  const printed = greet({ ready: { demo }, demoFiles: { token, trigger: undefined } });
  expect(commands(printed)).toHaveLength(1);
  expect(printed).not.toContain("Demo trigger");
  expect(greet({ ready: { demo: null } })).not.toMatch(/[Dd]emo/);
});

test("a demo agent that is not offered is not printed, even if its secrets cannot be written", () => {
  const notOffered = { demo: { ...demo, is_offered: false } };
  const error = "EROFS: read-only file system";
  for (const demoFiles of [
    filesIn("/data"),
    { token: { path: "/data/demo.token", error }, trigger: undefined },
  ])
    expect(greet({ ready: notOffered, demoFiles })).not.toMatch(/[Dd]emo/);
});

test("if the files cannot be written it says why, and how to read the token with a key", () => {
  const error = "EROFS: read-only file system";
  const demoFiles = { token: { path: "/data/demo.token", error }, trigger: undefined };
  const printed = greet({ ready: { demo }, demoFiles });
  expect(printed).toContain(`could not be written to the data folder: ${error}.`);
  expect(printed).not.toContain("demo.token");
  expect(commands(printed)).toEqual([
    'curl http://127.0.0.1:3000/api/public/agents/agt_1/token -H "x-api-key: $BECKON_BOOTSTRAP_KEY"',
  ]);
});

test("without a bootstrap key it says so, and how to get a key", () => {
  const printed = greet({ hasBootstrapKey: false });
  expect(printed).toMatch(
    /There is no management key, since BECKON_BOOTSTRAP_KEY is not set: only a signed-in owner/,
  );
  expect(printed).toContain("POST http://127.0.0.1:3000/api/public/keys");
  expect(printed).not.toContain("BECKON_SETUP_LINK");
  expect(greet({ hasBootstrapKey: false, setupLink: false })).toContain(
    "BECKON_SETUP_LINK=0 hides",
  );
  expect(greet()).not.toContain("management key");
});

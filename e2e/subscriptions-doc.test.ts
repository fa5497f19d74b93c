import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { startTestBeckon } from "../server/test/beckon.ts";
import { type Received, startReceiver } from "../server/test/receiver.ts";
import { asPrinted, fencesOf, runTypeScript } from "./examples.ts";
import { temporaryFolder } from "./product.ts";

/**
 * Executes docs/subscriptions.md. Its commands must print what the page shows. Its functions that
 * verify a request, in TypeScript and Python, are called with a request that a receiver got.
 */
const fences = fencesOf("docs/subscriptions.md");
const of = (wanted: string) => fences.filter(({ kind }) => kind === wanted).map(({ text }) => text);

const beckon = await startTestBeckon();
const receiver = await startReceiver();
afterAll(() => receiver.close());

const { data: subscription } = (
  await beckon.call("/subscriptions", {
    body: { url: `${receiver.origin}/signed`, event_types: ["run.finished"] },
  })
).body;
await beckon.call(`/subscriptions/${subscription.id}/test`, { method: "POST" });
const [request] = await receiver.awaitCount(1, ({ path }) => path === "/signed");

test("the commands print what the page shows", async () => {
  const mark = "-- next --";
  const shell = spawn("sh", ["-e"], {
    cwd: temporaryFolder(),
    env: {
      PATH: process.env.PATH,
      URL: beckon.url,
      KEY: beckon.key,
      RECEIVER: `${receiver.origin}/commands`,
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let printed = "";
  shell.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  shell.stdin.end(of("sh").join(`\necho '${mark}'\n`));
  expect((await once(shell, "close"))[0]).toBe(0);
  const shown = of("text");
  const responses = printed.split(`${mark}\n`).map((text) => text.trim());
  expect(responses).toHaveLength(shown.length);
  for (const [index, each] of shown.entries())
    expect(responses[index]).toMatch(asPrinted(each.trim()));
  const [test] = await receiver.awaitCount(1, ({ path }) => path === "/commands");
  expect(test?.body).toMatchObject({ type: "run.finished", data: { test: true } });
});

test("the body on the page is the example in the OpenAPI document", async () => {
  const { webhooks } = (await beckon.call(`${beckon.url}/openapi.json`)).body;
  const { examples } = webhooks["run.finished"].post.requestBody.content["application/json"];
  const [shown = ""] = of("json");
  const text = JSON.stringify(examples.full.value).replaceAll(
    beckon.url,
    "https://beckon.example.com",
  );
  expect(JSON.parse(shown)).toEqual(JSON.parse(text));
});

interface Given {
  readonly body: string;
  readonly headers: object;
}

/**
 * Functions that run the page's `verify` with a request, by language. They resolve to the event's
 * type, or reject.
 */
const verifiers = {
  TypeScript: ({ body, headers }: Given) =>
    runTypeScript(
      `${of("ts")[0]}\nconsole.log(verify(${JSON.stringify(body)}, ${JSON.stringify(headers)}).type);`,
      { WEBHOOK_SECRET: subscription.secret },
    ),
  Python: async ({ body, headers }: Given) => {
    const call = `import sys\ngiven = json.loads(sys.argv[1])\nprint(verify(given["body"].encode(), given["headers"])["type"])`;
    const { stdout } = await promisify(execFile)(
      "python3",
      ["-c", `${of("python")[0]}\n${call}`, JSON.stringify({ body, headers })],
      { env: { PATH: process.env.PATH, WEBHOOK_SECRET: subscription.secret } },
    );
    return stdout;
  },
};

type Language = keyof typeof verifiers;

describe.each(Object.keys(verifiers) as Language[])("the verification in %s", (language) => {
  const verify = (given: Pick<Received, "text">, headers: object = {}) =>
    verifiers[language]({
      body: given.text,
      headers: { ...namesOf(request), ...headers },
    });

  test("accepts a delivery", async () => {
    expect((await verify({ text: request?.text ?? "" })).trim()).toBe("run.finished");
  });

  test("rejects an altered body, another id and an old request", async () => {
    const text = request?.text ?? "";
    const old = String(Math.floor(Date.now() / 1_000) - 3_600);
    for (const [body, headers] of [
      [text.replace("run.finished", "run.failed"), {}],
      [text, { "webhook-id": "evt_other" }],
      [text, { "webhook-timestamp": old }],
    ] as const)
      await expect(verify({ text: body }, headers)).rejects.toThrow(/signature|timestamp/i);
  });

  test("rejects what anyone can send: no headers, another alphabet, a huge number", async () => {
    const text = request?.text ?? "";
    for (const headers of [
      { "webhook-id": undefined, "webhook-timestamp": undefined, "webhook-signature": undefined },
      { "webhook-timestamp": "9".repeat(400) },
      { "webhook-signature": "v1,é" },
    ])
      await expect(verify({ text }, headers)).rejects.toThrow(errors[language]);
  });
});

/** The error that the page names, by language. */
const errors: Readonly<Record<Language, RegExp>> = {
  TypeScript: /WebhookVerificationError/,
  Python: /^ValueError: /m,
};

const namesOf = (received: Received | undefined) => ({
  "webhook-id": String(received?.headers["webhook-id"]),
  "webhook-timestamp": String(received?.headers["webhook-timestamp"]),
  "webhook-signature": String(received?.headers["webhook-signature"]),
});

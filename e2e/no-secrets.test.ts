import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { type Behaviour, echo, startModelServer, status } from "../server/test/model-server.ts";
import { openClient } from "../server/test/open-client.ts";
import { startTargetServer } from "../server/test/target-server.ts";
import { unknownCredential } from "../server/test/unknown-credential.ts";
import { type Answer, caller } from "./call.ts";
import { foundIn } from "./encodings.ts";
import { freePort, startProduct, temporaryFolder, until } from "./product.ts";

/**
 * Uses secrets of providers, tools, agents, triggers, keys and people, in requests that succeed and
 * in requests that fail, at the most verbose log level. Then searches all tables, files and logs
 * for these secrets.
 */

const [models, target] = [await startModelServer(), await startTargetServer()];
afterAll(() => Promise.all([models.close(), target.close()]));
/**
 * If a request contains `fail`, responds with an error that contains the API key, as some providers
 * do. Otherwise responds with the request's input.
 */
const echoKey: Behaviour = (request, index) => {
  const told = JSON.stringify({
    error: {
      message: `Incorrect API key provided: ${request.headers.authorization}`,
      type: "invalid_request_error",
    },
  });
  return JSON.stringify(request.body).includes("fail")
    ? status(401, { body: told })(request, index)
    : echo()(request, index);
};
models.script(echoKey);

/**
 * Returns a secret with characters that JSON and URLs escape, so that the search must also find
 * escaped secrets (see `encodings.ts`).
 */
const oddSecret = (what: string) => `sk-${what}+/=&%"\\-${randomBytes(12).toString("base64url")}`;
const masterKey = randomBytes(32);
const given = {
  bootstrapKey: `bootstrap_${randomBytes(24).toString("base64url")}`,
  operatorKey: oddSecret("operator"),
  providerKey: oddSecret("provider"),
  replacedProviderKey: oddSecret("replaced"),
  rejectedProviderKey: oddSecret("rejected"),
  toolSecret: oddSecret("tool"),
  rejectedToolSecret: oddSecret("rejected-tool"),
  senderSecret: oddSecret("sender"),
  signingSecret: `whsec_${randomBytes(32).toString("base64")}`,
  deliveryHeader: oddSecret("delivery"),
  guess: `guess-${randomBytes(24).toString("base64url")}`,
  unknownToken: unknownCredential("bka_"),
  unknownTriggerToken: unknownCredential("bkt_"),
  unknownKey: unknownCredential("bkw_"),
  password: `password-${randomBytes(24).toString("base64url")}`,
  changedPassword: `password-${randomBytes(24).toString("base64url")}`,
  guestPassword: `password-${randomBytes(24).toString("base64url")}`,
  guessedPassword: `password-${randomBytes(24).toString("base64url")}`,
};
const folder = join(temporaryFolder(), "data");
const beckon = await startProduct({
  BECKON_DATA_DIR: folder,
  PORT: String(await freePort()),
  LOG_LEVEL: "trace",
  BECKON_METRICS_PORT: String(await freePort()),
  BECKON_MASTER_KEY: masterKey.toString("base64"),
  BECKON_BOOTSTRAP_KEY: given.bootstrapKey,
  OPENAI_API_KEY: given.operatorKey,
  OPENAI_BASE_URL: models.url,
  BECKON_EGRESS_ALLOW: `${new URL(models.url).host},${target.host}`,
});
const call = caller(
  () => beckon.url,
  () => given.bootstrapKey,
);
async function succeed(
  path: string,
  options?: Parameters<typeof call>[1],
): Promise<Answer["body"]> {
  const { status, body } = await call(path, options);
  if (status >= 300) throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
  return body.data ?? body;
}
const home = beckon.output().includes("PostgreSQL data")
  ? beckon.printed("PostgreSQL data")
  : folder;

async function inDatabase<T>(
  work: (client: Awaited<ReturnType<typeof openClient>>) => Promise<T>,
): Promise<T> {
  const [, , , port, host] = readFileSync(join(home, "postgres/postmaster.pid"), "utf8").split(
    "\n",
  );
  const parameters = new URLSearchParams({
    host: host ?? "",
    sslmode: "disable",
    options: "-c beckon.workspace=*",
  });
  const client = await openClient(`postgresql://beckon@localhost:${port}/beckon?${parameters}`);
  return work(client).finally(() => client.end());
}

/**
 * Sends requests with passwords, sessions and one-time links, and some that are rejected. Resolves
 * with the secrets that Beckon issued for them.
 */
async function usePeople(): Promise<Record<string, string>> {
  const email = "ada@example.com";
  const setup = /setup#token=(\S+)/.exec(beckon.output())?.[1];
  const as = (cookie: string) => ({ key: null, headers: { cookie, origin: beckon.url } });
  const signIn = async (password: string) => {
    const { headers } = await call("/sign-in", { key: null, body: { email, password } });
    return headers.getSetCookie()[0]?.split(";")[0] ?? "";
  };
  await succeed("/setup", {
    key: null,
    body: { token: setup, name: "Ada", email, password: given.password },
  });
  expect(await signIn(given.guessedPassword)).toBe("");
  const cookie = await signIn(given.password);
  const me = await succeed("/me", as(cookie));
  const invited = await succeed("/invitations", {
    ...as(cookie),
    body: { email: "grace@example.com", role: "viewer" },
  });
  await succeed("/invitations/accept", {
    key: null,
    body: { token: invited.token, name: "Grace", password: given.guestPassword },
  });
  const open = await succeed("/invitations", {
    ...as(cookie),
    body: { email: "open@example.com", role: "viewer" },
  });
  const passwords = { current_password: given.password, new_password: given.changedPassword };
  expect((await call("/password", { ...as(cookie), body: passwords })).status).toBe(204);
  const reset = await succeed(`/members/${me.id}/reset-link`, { body: {} });
  const rejected = [
    await call("/me", as(cookie.replace(/.$/, ""))),
    await call("/password", { ...as(cookie), body: passwords }),
    await call("/setup", {
      key: null,
      body: { token: setup, name: "Ada", email, password: given.password },
    }),
    await call("/sign-in", {
      key: null,
      body: { email, password: given.guessedPassword, more: 1 },
    }),
    await call(`/agents?session=${encodeURIComponent(cookie)}`),
  ];
  expect(rejected.filter(({ status }) => status < 400)).toEqual([]);
  return {
    invitation: invited.token,
    openInvitation: open.token,
    reset: reset.token,
    cookie: cookie.slice(cookie.indexOf("=") + 1),
  };
}

/**
 * Sends requests with which Beckon uses or rejects all secrets in `given`. Resolves with the
 * secrets that Beckon generated.
 */
async function useEverything(): Promise<Record<string, string>> {
  const invoke = (
    agent: { id: string; token: string },
    input: string,
    headers?: Record<string, string>,
  ) =>
    call(`/agents/${agent.id}/invoke`, {
      key: agent.token,
      body: { input },
      ...(headers && { headers }),
    });
  const provider = { name: "own", kind: "openai-compatible", base_url: models.url };
  const tool = (secret: string, change: object = {}) => ({
    type: "http",
    name: "shop",
    allowed_hosts: [target.host],
    headers: { Authorization: { secret, prefix: "Bearer " } },
    operations: [
      { name: "read", description: "Reads", method: "GET", url: `${target.url}/orders` },
    ],
    ...change,
  });

  const { id: providerId } = await succeed("/providers", {
    body: { ...provider, api_key: given.providerKey },
  });
  const agent = await succeed("/agents", { body: { name: "Own", model: "own/scripted" } });
  const operators = await succeed("/agents", {
    body: { name: "Operator's", model: "openai-chat/scripted" },
  });
  const handy = await succeed("/agents", {
    body: { name: "Handy", model: "demo/echo", tools: [tool(given.toolSecret)] },
  });
  const once = {
    body: { name: "Once", model: "demo/echo" },
    headers: { "idempotency-key": "once" },
  };
  const created = await succeed("/agents", once);
  expect((await succeed("/agents", once)).token).toBe(created.token);
  const trigger = await succeed(`/agents/${agent.id}/triggers`, { body: { name: "Test" } });
  const rotatedTrigger = await succeed(`/agents/${agent.id}/triggers/${trigger.id}/rotate`, {
    body: { grace_seconds: 60 },
  });
  const { token: rotated } = await succeed(`/agents/${created.id}/token/rotate`, {
    body: { grace_seconds: 60 },
  });
  expect((await succeed(`/agents/${created.id}/token`)).token).toBe(rotated);
  await succeed(`/agents/${agent.id}/triggers/${trigger.id}/token`);
  const key = await succeed("/keys", { body: { name: "Test", preset: "everything" } });
  await succeed("/agents", { key: key.key });
  const rotatedKey = await succeed(`/keys/${key.id}/rotate`, { body: { grace_seconds: 60 } });

  for (const one of [agent, operators]) {
    expect((await invoke(one, "Hello")).body.output).toBe("Hello");
    expect((await invoke(one, "Please fail")).body).toMatchObject({
      ok: false,
      code: "model_error",
    });
  }
  expect((await invoke(handy, "/call read {}")).body.output).toContain("[secret]");
  expect(models.requests[0]?.headers.authorization).toBe(`Bearer ${given.providerKey}`);
  expect(models.requests[2]?.headers.authorization).toBe(`Bearer ${given.operatorKey}`);
  expect(target.reached[0]?.headers.authorization).toBe(`Bearer ${given.toolSecret}`);
  const generatedSecret = await useDeliveries();
  await useSenderSecret(agent.id);
  await invoke(agent, "Please fail", { prefer: "respond-async" });
  for (const url of [trigger.url, rotatedTrigger.url])
    await succeed(url, { key: null, body: { please: "fail" } });
  await succeed(`/providers/${providerId}/check`, { method: "POST" });
  await succeed(`/providers/${providerId}`, {
    method: "PATCH",
    body: { api_key: given.replacedProviderKey },
  });
  expect((await invoke(agent, "Hello again")).status).toBe(200);

  const people = await usePeople();

  // Sends each of these secrets as a key, as a bearer token, in paths and in a query. None of them
  // is valid, so Beckon rejects all these requests.
  const rejected: Answer[] = [];
  for (const secret of [
    given.guess,
    given.unknownToken,
    given.unknownTriggerToken,
    given.unknownKey,
  ]) {
    rejected.push(await call("/agents", { key: secret }));
    rejected.push(
      await call("/agents", { key: null, headers: { authorization: `Bearer ${secret}` } }),
    );
    rejected.push(
      await call(`/agents/${agent.id}/invoke`, { key: secret, body: { input: "Hello" } }),
    );
    rejected.push(await call(`/triggers/${secret}`, { key: null, body: { hello: true } }));
    rejected.push(await call(`/runs?token=${encodeURIComponent(secret)}`));
    rejected.push(await call(`/agents/${secret}`));
  }
  rejected.push(
    await call("/providers", { body: { ...provider, api_key: given.rejectedProviderKey } }),
  );
  rejected.push(
    await call("/providers", {
      body: { name: "x", kind: "none", api_key: given.rejectedProviderKey },
    }),
  );
  rejected.push(
    await call("/agents", {
      body: { name: "x", model: "demo/echo", tools: [tool(given.rejectedToolSecret, { more: 1 })] },
    }),
  );
  expect(rejected.filter((response) => response.status < 400)).toEqual([]);

  // Causes internal errors, which Beckon and PostgreSQL log: constraints reject an agent with the
  // name Broken, and each new token.
  await inDatabase(async (client) => {
    await client.query("alter table agents add constraint broken check (name <> 'Broken')");
    await client.query(
      "alter table tokens add constraint broken check (expires_at is not null) not valid",
    );
  });
  const faults = [
    await call("/agents", {
      body: { name: "Broken", model: "demo/echo", tools: [tool(given.toolSecret)] },
      headers: { "idempotency-key": "x" },
    }),
    await call(`/agents/${handy.id}/token/rotate`, { body: {} }),
  ];
  expect(faults.map((response) => response.status)).toEqual([500, 500]);

  await until("the end of all runs", async () =>
    (await call("/runs?limit=100")).body.data.every(
      (run: { finished_at: unknown }) => run.finished_at,
    ),
  );
  return {
    agentToken: agent.token,
    operatorsToken: operators.token,
    handyToken: handy.token,
    createdToken: created.token,
    rotatedToken: rotated,
    triggerToken: trigger.url.split("/").at(-1),
    rotatedTriggerToken: rotatedTrigger.url.split("/").at(-1),
    key: key.key,
    rotatedKey: rotatedKey.key,
    generatedSecret,
    ...people,
  };
}

/**
 * Subscribes a receiver twice, with a given and with a generated signing secret, and waits until
 * each subscription has delivered. The receiver repeats the headers of the requests, so the secret
 * header is also in its responses, which Beckon stores. Resolves with the generated secret.
 */
async function useDeliveries(): Promise<string> {
  const events = { event_types: ["run.finished", "run.failed"] };
  const headers = { "x-shop": given.deliveryHeader };
  await succeed("/subscriptions", {
    body: { ...events, url: `${target.url}/given`, headers, secret: given.signingSecret },
  });
  const generated = await succeed("/subscriptions", {
    body: { ...events, url: `${target.url}/generated`, headers },
  });
  const demo = beckon.demo();
  await call(`/agents/${demo.id}/invoke`, { key: demo.token, body: { input: "Deliver this" } });
  for (const path of ["/given", "/generated"]) {
    await until(`the delivery to ${path}`, async () =>
      target.reached.some(
        ({ url, headers: sent }) => url === path && sent["x-shop"] === given.deliveryHeader,
      ),
    );
  }
  return generated.secret;
}

/** Sends a request with a valid and one with a wrong signature to a trigger that verifies them. */
async function useSenderSecret(agentId: string): Promise<void> {
  const presets = await succeed("/trigger-presets");
  const { receiving } = presets.find(({ name }: { name: string }) => name === "github");
  const path = `/agents/${agentId}/triggers`;
  const signed = await succeed(path, { body: { name: "Signed", receiving } });
  await succeed(`${path}/${signed.id}/secret`, { body: { secret: given.senderSecret } });
  const body = { action: "opened" };
  const send = (secret: string) =>
    call(signed.url, {
      key: null,
      body,
      headers: {
        "x-github-event": "issues",
        "x-github-delivery": randomUUID(),
        "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(JSON.stringify(body)).digest("hex")}`,
      },
    });
  expect((await send(given.senderSecret)).status).toBeLessThan(300);
  expect((await send(given.guess)).status).toBe(401);
}

/** Returns the rows of every table as text, one row per line. */
function copyTables(): Promise<Map<string, string>> {
  return inDatabase(async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      "select format('%I', table_name) as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
    );
    const copies = new Map<string, string>();
    for (const { name } of tables) {
      const { rows } = await client.query<{ line: string }>(
        `select t::text as line from ${name} as t`,
      );
      copies.set(name, rows.map(({ line }) => line).join("\n"));
    }
    return copies;
  });
}

function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => join(path, name))
    .filter((name) => statSync(name).isFile());
}

test("no table, log or file contains a secret in any encoding", async () => {
  const made = await useEverything();
  const demo = beckon.demo();
  expect(
    (await call(`/agents/${demo.id}/invoke`, { key: demo.token, body: { input: "Hello" } })).status,
  ).toBe(200);
  await succeed(demo.triggerUrl, { key: null, body: { hello: true } });
  const tables = await copyTables();
  let metrics = "";
  // A process that did not respond in time is missing.
  await until("the metrics of all processes", async () => {
    metrics = await (await fetch(beckon.printed("Metrics"))).text();
    return /^beckon_processes_silent 0$/m.test(metrics);
  });
  await beckon.stop();
  const secrets = {
    ...given,
    ...made,
    demoToken: demo.token,
    demoTriggerToken: demo.triggerUrl.split("/").at(-1) ?? "",
    masterKey: masterKey.toString("base64"),
    masterKeyAsHex: masterKey.toString("hex"),
  };
  for (const [name, secret] of Object.entries(secrets))
    expect([name, secret]).toEqual([name, expect.stringMatching(/^.{24,}$/)]);

  // Checks that the search covers the right tables, files and logs: it finds known texts in them.
  expect(tables.get("agents")).toContain("Handy");
  expect(tables.get("events")).toContain("[secret]");
  expect(foundIn(Buffer.from(`: ${given.toolSecret};`).toString("base64"), secrets)).toEqual([
    "toolSecret",
  ]);
  const serverLog = beckon.output();
  expect(serverLog).toMatch(/violates check constraint/);
  for (const line of ["run ended", "provider failed", "credential rejected", "process stopped"])
    expect(serverLog).toContain(`"msg":"${line}"`);
  expect(metrics).toMatch(/^beckon_runs_ended_total\{status="failed",.*\} [1-9]/m);
  const postgresLog = readFileSync(join(folder, "postgres.log"), "utf8");
  expect(postgresLog).toMatch(/violates check constraint/);

  for (const [name, text] of [
    ...tables,
    ["the log", serverLog],
    ["PostgreSQL's log", postgresLog],
    ["the metrics", metrics],
  ] as const) {
    expect([name, foundIn(text, secrets)]).toEqual([name, []]);
  }
  // Only these files are allowed to contain secrets: the commands that Beckon prints read them.
  const demoFiles = [beckon.printed("Demo token"), beckon.printed("Demo trigger")];
  const paths = new Set([...filesBelow(folder), ...filesBelow(home)]);
  for (const path of [...paths].filter((each) => !demoFiles.includes(each))) {
    const bytes = readFileSync(path);
    const found = Object.entries(secrets).filter(([, secret]) => bytes.includes(secret));
    expect([path, found.map(([name]) => name)]).toEqual([path, []]);
  }
});

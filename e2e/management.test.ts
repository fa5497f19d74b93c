import { join } from "node:path";
import {
  type AuditEntry,
  type BeckonClient,
  BeckonError,
  createClient,
  type Run,
} from "@beckon/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { echo, startModelServer } from "../server/test/model-server.ts";
import { freePort, type Product, startProduct, temporaryFolder } from "./product.ts";

/**
 * Manages a fresh installation over HTTP, from the creation of its first owner on, and moves its
 * agents to a second installation. The tests use sessions and keys, never the bootstrap key, and
 * depend on their order.
 */

const model = await startModelServer();
model.script(echo());
afterAll(() => model.close());

const install = async () =>
  startProduct({
    BECKON_DATA_DIR: join(temporaryFolder(), "data"),
    PORT: String(await freePort()),
    BECKON_EGRESS_ALLOW: new URL(model.url).host,
  });
let here: Product;
let there: Product;
beforeAll(async () => {
  [here, there] = await Promise.all([install(), install()]);
});

const password = "correct horse battery staple";
const ada = { email: "ada@example.com", password };

/** The session's cookie as `name=value`, by the URL of the installation. */
const cookies = new Map<string, string>();

/** Creates a client that sends a session's cookie instead of a key, as on Beckon's own pages. */
function browser(url: string, workspaceId?: () => string): BeckonClient {
  return createClient({
    url,
    fetch: async (input, init) => {
      const headers = new Headers(init?.headers);
      headers.set("origin", url);
      const cookie = cookies.get(url);
      if (cookie !== undefined) headers.set("cookie", cookie);
      if (workspaceId !== undefined) headers.set("beckon-workspace", workspaceId());
      const response = await fetch(input, { ...init, headers });
      const [given] = response.headers.getSetCookie();
      if (given !== undefined) cookies.set(url, given.split(";")[0] ?? "");
      return response;
    },
  });
}

/** Returns the token in the fragment of the printed setup link. */
const setupToken = (product: Product) =>
  /\/setup#token=(bks_[\w-]+)$/m.exec(product.output())?.[1] ?? "";

async function all<T>(list: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of list) values.push(value);
  return values;
}
const errorOf = async (call: Promise<unknown>) => {
  const thrown = await call.then(
    () => undefined,
    (error: unknown) => error,
  );
  return thrown instanceof BeckonError ? `${thrown.status} ${thrown.code}` : thrown;
};

let owner: BeckonClient;
let support: { readonly id: string };
/** A client with a key of the workspace `support`. */
let client: BeckonClient;
let keyOfSupport: { readonly id: string; key: string };
let agent: { readonly id: string; token: string };
let trigger: { readonly id: string; url: string };
const actions = (entries: readonly AuditEntry[]) =>
  entries.map(({ action }) => action).toReversed();

async function finished(of: BeckonClient, runId: string): Promise<Run> {
  for await (const _ of of.runs.watch(runId));
  return of.runs.get(runId);
}

test("the printed link creates the first owner, once, who can sign in", async () => {
  owner = browser(here.url);
  expect(await errorOf(owner.me.get())).toBe("401 unauthorized");
  const made = await owner.setUp({ token: setupToken(here), name: "Ada", ...ada });
  expect(
    await errorOf(
      owner.setUp({ token: setupToken(here), name: "Eve", email: "eve@example.com", password }),
    ),
  ).toBe("401 unauthorized");
  expect(await owner.signIn(ada)).toEqual(made);
  const scopes = expect.arrayContaining(["agents:write", "workspaces:own"]);
  expect(await owner.me.get()).toEqual({
    ...made,
    workspaces: [{ id: expect.any(String), name: "default", role: "owner", scopes }],
  });
});

test("the owner adds a second workspace with a provider and a key", async () => {
  support = await owner.workspaces.create({ name: "Support", time_zone: "Europe/Zurich" });
  expect(await errorOf(owner.agents.list().page())).toBe("400 bad_request");
  const inSupport = browser(here.url, () => support.id);
  const provider = await inSupport.providers.create({
    name: "house",
    kind: "openai-compatible",
    base_url: model.url,
    api_key: "sk-of-the-first-install",
  });
  expect(await inSupport.providers.check(provider.id)).toMatchObject({ works: true });
  keyOfSupport = await inSupport.keys.create({
    name: "Scripts",
    preset: "everything",
    expires_in_days: 1,
  });
  client = createClient({ url: here.url, key: keyOfSupport.key });
  expect(await all(client.agents.list())).toEqual([]);
});

const shop = {
  type: "http",
  name: "shop",
  allowed_hosts: ["shop.example"],
  headers: { Authorization: { secret: "secret-of-the-shop", prefix: "Bearer " } },
  operations: [
    {
      name: "read_order",
      description: "Reads an order",
      method: "GET",
      url: "https://shop.example/orders",
    },
  ],
} as const;

test("an agent with a tool and a trigger executes runs with a provider over HTTP", async () => {
  agent = await client.agents.create({
    name: "Triage",
    model: "house/large",
    instructions: "Repeat.",
    tools: [shop as never],
  });
  trigger = await client.triggers.create(agent.id, {
    name: "Orders",
    prompt_prefix: "An order came in:",
  });
  const invoked = await client.agents.invoke(agent.id, { input: "Hello" }, { key: agent.token });
  expect(invoked.output).toBe("Hello");
  const fired = await client.triggers.fire(trigger.url, { order: 4711 });
  expect(await finished(client, fired.run_id)).toMatchObject({
    status: "succeeded",
    output: 'An order came in:\n\n{"order":4711}',
  });
  expect(model.requests.map(({ headers }) => headers.authorization)).toEqual(
    Array(2).fill("Bearer sk-of-the-first-install"),
  );
});

test("credentials rotated with a grace period are both valid, and a rotation without one revokes the others", async () => {
  const token = (await client.agents.rotateToken(agent.id, { grace_seconds: 600 })).token;
  for (const key of [agent.token, token])
    expect((await client.agents.invoke(agent.id, { input: "Hello" }, { key })).output).toBe(
      "Hello",
    );
  const url = (await client.triggers.rotate(agent.id, trigger.id, { grace_seconds: 600 })).url;
  for (const each of [trigger.url, url])
    await finished(client, (await client.triggers.fire(each, "Hello")).run_id);
  const { key } = await client.keys.rotate(keyOfSupport.id, { grace_seconds: 600 });
  for (const each of [keyOfSupport.key, key])
    expect((await client.agents.get(agent.id, { key: each })).id).toBe(agent.id);

  const last = await client.agents.rotateToken(agent.id);
  for (const each of [agent.token, token]) {
    expect(await errorOf(client.agents.invoke(agent.id, { input: "Hello" }, { key: each }))).toBe(
      "401 unauthorized",
    );
  }
  const lastUrl = (await client.triggers.rotate(agent.id, trigger.id)).url;
  for (const each of [trigger.url, url])
    expect(await errorOf(client.triggers.fire(each, "Hello"))).toBe("401 unauthorized");
  const lastKey = await client.keys.rotate(keyOfSupport.id, { grace_seconds: 0 }, { key });
  for (const each of [keyOfSupport.key, key])
    expect(await errorOf(client.agents.get(agent.id, { key: each }))).toBe("401 unauthorized");

  agent.token = last.token;
  trigger = { ...trigger, url: lastUrl };
  keyOfSupport.key = lastKey.key;
  client = createClient({ url: here.url, key: lastKey.key });
  expect((await client.agents.revealToken(agent.id)).token).toBe(agent.token);
  expect(
    (await client.agents.invoke(agent.id, { input: "Hello" }, { key: agent.token })).output,
  ).toBe("Hello");
});

test("an agent's versions can be compared, and one can be restored", async () => {
  const seen = await client.agents.get(agent.id);
  const changed = await client.agents.update(
    agent.id,
    { instructions: "Repeat twice." },
    { ifMatch: seen.version },
  );
  expect(
    await errorOf(client.agents.update(agent.id, { name: "Late" }, { ifMatch: seen.version })),
  ).toBe("412 stale");
  expect(await client.versions.compare(agent.id, "1")).toEqual({
    from: 1,
    to: 2,
    changes: [{ path: "/instructions", before: "Repeat.", after: "Repeat twice." }],
  });
  expect(await client.versions.restore(agent.id, "1", { ifMatch: changed.version })).toMatchObject({
    version: 3,
    instructions: "Repeat.",
  });
  expect(
    (await all(client.versions.list(agent.id))).map(
      ({ version, created_by }) => `${version} ${created_by}`,
    ),
  ).toEqual([3, 2, 1].map((version) => `${version} key:${keyOfSupport.id}`));
});

let document: string;
let importer: BeckonClient;

test("all agents can be exported as YAML without secrets and ids", async () => {
  document = await client.agents.exportManyYaml();
  expect(document).toMatch(/name: Triage/);
  for (const secret of [
    agent.token,
    trigger.url,
    agent.id,
    trigger.id,
    "secret-of-the-shop",
    "sk-of",
    support.id,
  ]) {
    expect(document).not.toContain(secret);
  }
});

test("a second installation accepts no link, password, session, key or token of the first", async () => {
  importer = browser(there.url);
  expect(await errorOf(importer.setUp({ token: setupToken(here), name: "Ada", ...ada }))).toMatch(
    /^40[01] /,
  );
  expect(await errorOf(importer.signIn(ada))).toBe("401 unauthorized");
  const stranger = createClient({
    url: there.url,
    key: keyOfSupport.key,
    headers: { cookie: cookies.get(here.url) ?? "" },
  });
  expect(await errorOf(stranger.agents.list().page())).toBe("401 unauthorized");
  const withCookie = createClient({
    url: there.url,
    headers: { cookie: cookies.get(here.url) ?? "" },
  });
  expect(await errorOf(withCookie.agents.list().page())).toBe("401 unauthorized");
  expect(
    await errorOf(stranger.triggers.fire(trigger.url.replace(here.url, there.url), "Hello")),
  ).toBe("401 unauthorized");
});

test("the second installation can import the document and run its agents with its own provider and secrets", async () => {
  await importer.setUp({
    token: setupToken(there),
    name: "Grace",
    email: "grace@example.com",
    password,
  });
  await importer.signIn({ email: "grace@example.com", password });
  expect(await errorOf(importer.agents.import(document))).toBe("400 bad_request");
  await importer.providers.create({
    name: "house",
    kind: "openai-compatible",
    base_url: model.url,
    api_key: "sk-of-the-second-install",
  });
  const [imported, ...others] = (await importer.agents.import(document)).agents;
  expect([imported?.name, imported?.secrets_needed, others]).toEqual([
    "Triage",
    ["tools.0.headers.Authorization"],
    [],
  ]);
  await importer.agents.update(imported?.id ?? "", { tools: [shop as never] });

  const seen = model.requests.length;
  const invoked = await importer.agents.invoke(
    imported?.id ?? "",
    { input: "Hello" },
    { key: imported?.token },
  );
  expect(invoked.output).toBe("Hello");
  const fired = await importer.triggers.fire(imported?.triggers[0]?.url ?? "", { order: 4712 });
  expect((await finished(importer, fired.run_id)).output).toBe(
    'An order came in:\n\n{"order":4712}',
  );
  expect(model.requests.slice(seen).map(({ headers }) => headers.authorization)).toEqual(
    Array(2).fill("Bearer sk-of-the-second-install"),
  );
  expect(model.requests.at(-1)?.body).toMatchObject({
    model: "large",
    messages: [{ role: "system", content: "Repeat." }, {}],
  });
  const [demo, ...rest] = (await importer.agents.exportMany()).agents;
  expect([demo?.name, rest]).toEqual(["Demo", (await client.agents.exportMany()).agents]);
});

test("both audit logs contain all actions and actors, without secrets", async () => {
  const inSupport = await all(client.audit.export());
  expect(actions(inSupport)).toEqual([
    "workspace.create",
    "provider.create",
    "key.create",
    "agent.create",
    "trigger.create",
    "agent.token.rotate",
    "trigger.rotate",
    "key.rotate",
    "agent.token.rotate",
    "trigger.rotate",
    "key.rotate",
    "agent.token.reveal",
    "agent.update",
    "agent.version.restore",
  ]);
  const { id } = await owner.me.get();
  const actors = inSupport.toReversed().map(({ actor }) => actor);
  expect(actors).toEqual([
    ...Array(3).fill(`user:${id}`),
    ...Array(11).fill(`key:${keyOfSupport.id}`),
  ]);

  const [first] = (await owner.me.get()).workspaces.filter((each) => each.id !== support.id);
  const before = await all(browser(here.url, () => first?.id ?? "").audit.list());
  expect(actions(before)).toEqual(
    expect.arrayContaining(["owner.create", "session.create", "workspace.create"]),
  );

  const elsewhere = await all(importer.audit.list());
  expect(actions(elsewhere)).toEqual(
    expect.arrayContaining([
      "owner.create",
      "session.create",
      "provider.create",
      "agent.import",
      "agent.update",
    ]),
  );
  const text = JSON.stringify([inSupport, before, elsewhere]);
  for (const secret of [
    agent.token,
    trigger.url,
    keyOfSupport.key,
    "secret-of-the-shop",
    "sk-of-the",
    password,
    setupToken(here),
  ]) {
    expect(text).not.toContain(secret);
  }
});

test("after sign-out the session is rejected", async () => {
  await owner.signOut();
  expect(await errorOf(owner.me.get())).toBe("401 unauthorized");
});

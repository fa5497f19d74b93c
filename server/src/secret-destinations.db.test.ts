import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeEach, expect, test } from "vitest";
import { type Answer, startTestBeckon } from "../test/beckon.ts";
import { eventually } from "../test/eventually.ts";
import { startTargetServer } from "../test/target-server.ts";
import { createLog } from "./base/log.ts";
import { reconcileMasterKey } from "./reconcile-master-key.ts";

const masterKey = randomBytes(32).toString("base64");
const beckon = await startTestBeckon({ BECKON_MASTER_KEY: masterKey });
const receivers = await Promise.all([
  startTargetServer(),
  startTargetServer(),
  startTargetServer(),
]);
afterAll(() => Promise.all(receivers.map((receiver) => receiver.close())));
for (const receiver of receivers) {
  const message = { role: "assistant", content: "done" };
  const reply = {
    id: "x",
    object: "chat.completion",
    choices: [{ index: 0, message, finish_reason: "stop" }],
    data: [{ id: "m" }],
  };
  receiver.answer = (_request, response) =>
    response.setHeader("content-type", "application/json").end(JSON.stringify(reply));
}
const { engine } = beckon.db.database;

/**
 * Every secret that these tests created, with the origins that it was entered for. A rejected
 * request adds no origin.
 */
const given = new Map<string, Set<string>>();
let count = 0;
function newSecret(kind: string): string {
  const secret = `sk-${kind}-${++count}-${randomBytes(8).toString("hex")}`;
  given.set(secret, new Set());
  return secret;
}
const give = (secret: string, origins: readonly string[]) => {
  for (const origin of origins) given.get(secret)?.add(origin);
};

/** A receiver, and the notation in which a URL contains its IP address. */
const address = fc.record({
  receiver: fc.nat({ max: receivers.length - 1 }),
  host: fc.constantFrom("127.0.0.1", "127.1", "0x7f.0.0.1"),
});
type Address = typeof address extends fc.Arbitrary<infer Value> ? Value : never;
const urlOf = ({ receiver, host }: Address, path: string) =>
  `${receivers[receiver]?.url.replace("127.0.0.1", host)}${path}`;
const originOf = (url: string | null) => new URL(url ?? "https://api.openai.com").origin;

/**
 * Content of a header or query parameter of a tool. `none`: no secret. `give`: a new secret. A
 * number: the index of one of the secret references that the API has returned.
 */
const slot = fc.oneof(
  fc.constant("none" as const),
  fc.constant("give" as const),
  fc.nat({ max: 30 }),
);
const operation = fc.record({ url: address, header: slot, query: slot });
const tools = fc.record({
  header: slot,
  query: slot,
  operations: fc.array(operation, { minLength: 1, maxLength: 2 }),
});
type Tools = typeof tools extends fc.Arbitrary<infer Value> ? Value : never;

const baseUrl = fc.oneof(address, fc.constantFrom(null, undefined));
const providerPatch = fc.record({
  baseUrl,
  key: fc.constantFrom("give" as const, null, undefined),
});
type ProviderPatch = typeof providerPatch extends fc.Arbitrary<infer Value> ? Value : never;

const change = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("patch provider" as const),
      patches: fc.array(providerPatch, { minLength: 1, maxLength: 2 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("patch tools" as const),
      agent: fc.nat({ max: 3 }),
      tools,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("restore a version" as const),
      agent: fc.nat({ max: 3 }),
      version: fc.nat({ max: 9 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("run a draft" as const),
      agent: fc.nat({ max: 3 }),
      tools,
    }),
  },
  fc.record({
    type: fc.constantFrom("duplicate" as const, "import" as const),
    agent: fc.nat({ max: 3 }),
  }),
  fc.constant({ type: "rotate the master key" } as const),
  // The next two changes simulate a future bug: code that moves a secret to another origin.
  fc.record({ type: fc.constant("move the provider unchecked" as const), to: address }),
  fc.record({
    type: fc.constant("move the tools unchecked" as const),
    agent: fc.nat({ max: 3 }),
    to: address,
  }),
);
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

type Agent = { id: string; token: string };

const ended = (runId: string) =>
  eventually(
    `the end of ${runId}`,
    async () => (await beckon.call(`/runs/${runId}`)).body.data.finished_at ?? undefined,
  );

async function startInstallation() {
  const name = `p${++count}`;
  const { id: providerId } = (
    await beckon.call("/providers", {
      body: { name, kind: "openai-chat", base_url: `${receivers[0]?.url}/v1` },
    })
  ).body.data as { id: string };
  const modelled = await beckon.createAgent({
    model: `${name}/m`,
    model_settings: { stream: "never" },
  });
  const agents: Agent[] = [await beckon.createAgent()];
  const agentAt = (index: number) => agents[index % agents.length] as Agent;
  const references: unknown[] = [];

  async function patchProvider({ baseUrl: to, key }: ProviderPatch): Promise<void> {
    const secret = key === "give" ? newSecret("provider") : undefined;
    const body = {
      ...(to === undefined ? {} : { base_url: to && urlOf(to, "/v1") }),
      ...(key === undefined ? {} : { api_key: secret ?? null }),
    };
    const { status, body: answer } = await beckon.call(`/providers/${providerId}`, {
      method: "PATCH",
      body,
    });
    expect([200, 400]).toContain(status);
    if (status === 200 && secret !== undefined) give(secret, [originOf(answer.data.base_url)]);
  }

  /** Returns a tool, and its new secrets with the origins that they are entered for. */
  function toolOf({ header, query, operations }: Tools) {
    const pending: [string, readonly string[]][] = [];
    const valueFor = (name: string, chosen: typeof header, origins: readonly string[]) => {
      if (chosen === "none" || (typeof chosen === "number" && references.length === 0)) return {};
      if (typeof chosen === "number") return { [name]: references[chosen % references.length] };
      const secret = newSecret(name);
      pending.push([secret, origins]);
      return { [name]: { secret } };
    };
    const origins = operations.map(({ url }) => originOf(urlOf(url, "/")));
    const tool = {
      type: "http",
      name: "shop",
      allowed_hosts: receivers.map(({ host }) => host),
      headers: valueFor("x-all", header, origins),
      query: valueFor("all", query, origins),
      operations: operations.map((each, index) => ({
        name: `read_${index}`,
        description: "Reads",
        method: "GET",
        url: urlOf(each.url, "/read"),
        headers: valueFor("x-own", each.header, origins.slice(index, index + 1)),
        query: valueFor("own", each.query, origins.slice(index, index + 1)),
      })),
    };
    return { tool, pending };
  }

  async function patchTools({ id }: Agent, given: Tools): Promise<void> {
    const { tool, pending } = toolOf(given);
    const { status, body } = await beckon.call(`/agents/${id}`, {
      method: "PATCH",
      body: { tools: [tool] },
    });
    expect([200, 400]).toContain(status);
    if (status !== 200) return;
    for (const [secret, at] of pending) give(secret, at);
    for (const { headers, query } of [body.data.tools[0], ...body.data.tools[0].operations]) {
      references.push(
        ...[...Object.values(headers), ...Object.values(query)].filter(
          (value) => typeof value === "object",
        ),
      );
    }
  }

  /** Calls each operation of the tool in its own draft run. A rejected draft starts no run. */
  async function runDraft({ id }: Agent, given: Tools): Promise<void> {
    const config = { tools: [toolOf(given).tool] };
    await Promise.all(
      given.operations.map(async (_, index) => {
        const input = `/call read_${index} {}`;
        const { status, body } = await beckon.call(`/agents/${id}/draft-runs`, {
          body: { input, config },
        });
        expect([201, 400]).toContain(status);
        if (status === 201) await ended(body.data.id);
      }),
    );
  }

  const make: Readonly<{
    [Type in Change["type"]]: (change: Extract<Change, { type: Type }>) => Promise<unknown>;
  }> = {
    "patch provider": ({ patches }) => Promise.all(patches.map(patchProvider)),
    "patch tools": ({ agent, tools }) => patchTools(agentAt(agent), tools),
    "run a draft": ({ agent, tools }) => runDraft(agentAt(agent), tools),
    "restore a version": ({ agent, version }) =>
      beckon.call(`/agents/${agentAt(agent).id}/versions/${version + 1}/restore`, {
        method: "POST",
      }),
    duplicate: async ({ agent }) => {
      agents.push(
        (await beckon.call(`/agents/${agentAt(agent).id}/duplicate`, { method: "POST" })).body.data,
      );
    },
    import: async ({ agent }) => {
      const document = (await beckon.call(`/agents/${agentAt(agent).id}/export`)).body;
      agents.push((await beckon.call("/agents/import", { body: document })).body.data.agents[0]);
    },
    "rotate the master key": async () => {
      const other = randomBytes(32).toString("base64");
      for (const [previousMasterKey, next] of [
        [masterKey, other],
        [other, masterKey],
      ] as const) {
        await reconcileMasterKey(
          engine,
          { masterKey: next, previousMasterKey, masterKeyLost: false },
          createLog("silent"),
        );
      }
    },
    "move the provider unchecked": ({ to }) =>
      engine.query(
        "update providers set base_url = $1, updated_at = clock_timestamp() where id = $2",
        [urlOf(to, "/v1"), providerId],
      ),
    "move the tools unchecked": async ({ agent, to }) => {
      const { id } = agentAt(agent);
      const move = `update agent_versions set config = regexp_replace(config::text, 'http://[^/"]+/read', $1, 'g')::jsonb where agent_id = $2`;
      await engine.query(move, [urlOf(to, "/read"), id]);
      await beckon.call(`/agents/${id}`, { method: "PATCH", body: { description: "moved" } });
    },
  };

  return {
    make: (next: Change) => (make[next.type] as (change: Change) => Promise<unknown>)(next),
    async useAll(): Promise<Answer[]> {
      const { base_url } = (await beckon.call(`/providers/${providerId}`)).body.data;
      // Without a base URL, the provider is not called: its default URL is on the internet.
      const calls =
        base_url === null
          ? []
          : [
              beckon.call(`/providers/${providerId}/check`, { method: "POST" }),
              beckon.invoke(modelled, "Hello"),
            ];
      const tools = agents
        .slice(0, 4)
        .flatMap((agent) => [0, 1].map((index) => beckon.invoke(agent, `/call read_${index} {}`)));
      return Promise.all([...calls, ...tools]);
    },
  };
}

/** Returns each secret that reached a receiver, with that receiver's origin. */
function arrivals(): { readonly secret: string; readonly origin: string }[] {
  return receivers.flatMap(({ url, reached }) =>
    reached.flatMap((request) => {
      const text = JSON.stringify(request);
      return [...given.keys()]
        .filter((secret) => text.includes(secret))
        .map((secret) => ({ secret, origin: originOf(url) }));
    }),
  );
}

const everywhere: Change[] = [
  { type: "patch provider", patches: [{ baseUrl: undefined, key: "give" }] },
  {
    type: "patch tools",
    agent: 0,
    tools: {
      header: "give",
      query: "give",
      operations: [{ url: { receiver: 0, host: "127.1" }, header: "give", query: "give" }],
    },
  },
];

function forgetArrivals(): void {
  for (const { reached } of receivers) reached.length = 0;
}
beforeEach(forgetArrivals);

test("no secret reaches an origin that it was not entered for, whatever is changed", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 3, maxLength: 10, size: "max" }),
      async (changes) => {
        forgetArrivals();
        const installation = await startInstallation();
        for (const next of [...everywhere, ...changes]) {
          await installation.make(next);
          await installation.useAll();
        }
        for (const { secret, origin } of arrivals())
          expect([...(given.get(secret) ?? [])]).toContain(origin);
      },
    ),
    // On a busy machine this tests fewer sequences instead of failing with a timeout.
    { numRuns: 12, interruptAfterTimeLimit: 60_000 },
  );
});

test("secrets reach the origins they were entered for after each of these changes", async () => {
  const installation = await startInstallation();
  const place: Address = { receiver: 0, host: "127.0.0.1" };
  const harmless: Change[] = [
    { type: "duplicate", agent: 0 },
    { type: "rotate the master key" },
    { type: "patch provider", patches: [{ baseUrl: place, key: undefined }] },
    { type: "restore a version", agent: 0, version: 1 },
    { type: "move the provider unchecked", to: place },
  ];
  for (const next of [...everywhere, ...harmless]) await installation.make(next);
  await installation.useAll();
  const kinds = new Set(arrivals().map(({ secret }) => secret.replace(/-\d+-[0-9a-f]+$/, "")));
  expect([...kinds].sort()).toEqual(["sk-all", "sk-own", "sk-provider", "sk-x-all", "sk-x-own"]);
});

test("a secret that was moved to another origin is not sent, and the error says what to do", async () => {
  const installation = await startInstallation();
  const elsewhere: Address = { receiver: 1, host: "127.0.0.1" };
  for (const next of everywhere) await installation.make(next);
  await installation.make({ type: "move the provider unchecked", to: elsewhere });
  await installation.make({ type: "move the tools unchecked", agent: 0, to: elsewhere });
  const [check, run, tool] = await installation.useAll();
  expect(check?.body).toMatchObject({
    code: "secret_unreadable",
    error: expect.stringMatching(/was not given for http.*Set the provider's api_key/),
  });
  expect(run?.body).toMatchObject({ code: "model_error", error: check?.body.error });
  expect(tool?.body.output).toMatch(/its credential was never .* is not bound to this origin/);
  expect(arrivals()).toEqual([]);
  expect(receivers[1]?.reached).toEqual([]);
});

import { afterAll, expect, test } from "vitest";
import { startTestBeckon } from "../../../test/beckon.ts";
import { createLeanFetch } from "../../base/egress/index.ts";
import { createSecretCipher, parseMasterKey } from "../../base/secrets/index.ts";
import { circuitPolicy, createCircuits } from "../../engine/index.ts";
import { PriceTable } from "../../prices/index.ts";
import { operatorProviders } from "../../providers/index.ts";
import { defaultWorkspaceId } from "../../workspaces/index.ts";
import { createPricer } from "../pricer.ts";
import { AgentCache } from "./agent-cache.ts";

const beckon = await startTestBeckon({ OPENAI_API_KEY: "operator-key-0123456789" });
const { database } = beckon.db;
const transport = createLeanFetch({
  connectTimeoutMs: 1_000,
  headersTimeoutMs: 1_000,
  bodyTimeoutMs: 1_000,
});
afterAll(() => transport.close());
const operator = operatorProviders(beckon.config.accounts, {
  defaultWorkspaceId,
  shared: false,
  discovery: undefined,
});
const prices = new PriceTable({
  models: new Map(),
  voiceNanosPerSecond: undefined,
  browserNanosPerSecond: undefined,
});
const cache = new AgentCache({
  database,
  cipher: createSecretCipher(parseMasterKey(beckon.config.masterKey ?? "")),
  circuits: createCircuits(circuitPolicy(10)),
  extraTools: [],
  outbound: transport,
  egress: transport,
  operator,
  pricer: createPricer({ database, operator, prices }),
});

/** Returns what one million input tokens cost in a run of the agent that starts now. */
async function costNow(agentId: string) {
  const { rows } = await database.engine.query<{ version: number; stamp: string | null }>(
    `select a.version, extract(epoch from p.updated_at)::text as stamp
      from agents a
      join agent_versions v on v.agent_id = a.id and v.version = a.version
      left join providers p on p.id = v.provider_id
      where a.id = $1`,
    [agentId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error("there is no such agent");
  const pinned = {
    runId: "run_00000000000000000000000000",
    workspaceId: defaultWorkspaceId,
    agentId,
    agentVersion: row.version,
    providerStamp: row.stamp,
  };
  const { priceOf } = cache.find(pinned) ?? (await cache.prepare(pinned));
  return priceOf({ input_tokens: 1_000_000, output_tokens: 0, cached_input_tokens: 0 });
}

const patch = (path: string, body: unknown) => beckon.call(path, { method: "PATCH", body });

test("a call of demo/echo costs nothing", async () => {
  const { id } = await beckon.createAgent();
  expect(await costNow(id)).toEqual({ micros: 0, standardMicros: 0, origin: "free" });
});

test("a call of the operator's provider has the library's price", async () => {
  const { id } = await beckon.createAgent({ model: "openai/gpt-4o" });
  expect(await costNow(id)).toEqual({
    micros: 2_500_000,
    standardMicros: 2_500_000,
    origin: "library",
  });
});

test("each run has the price that its own provider has when it starts", async () => {
  const provider = await beckon.createProvider("http://127.0.0.1:9/v1", "own");
  const { id } = await beckon.createAgent({ model: "own/model" });
  const unknown = { micros: null, standardMicros: null, origin: null };
  expect(await costNow(id)).toEqual(unknown);

  await patch(`/providers/${provider.id}`, { free: true });
  expect(await costNow(id)).toEqual({ micros: 0, standardMicros: null, origin: "free" });

  const rates = { input_micros_per_million: 5, output_micros_per_million: 6 };
  const { data: price } = (await beckon.call("/prices", { body: { model: "own/model", ...rates } }))
    .body;
  expect(await costNow(id)).toMatchObject({ micros: 5, origin: "workspace" });

  await patch(`/prices/${price.id}`, { input_micros_per_million: 7 });
  expect(await costNow(id)).toMatchObject({ micros: 7, origin: "workspace" });

  await beckon.call(`/prices/${price.id}`, { method: "DELETE" });
  await patch(`/providers/${provider.id}`, { free: false });
  expect(await costNow(id)).toEqual(unknown);
});

test("an own provider at the address of a vendor has the library's price", async () => {
  await beckon.call("/providers", {
    body: { name: "mine", kind: "openai-chat", api_key: "own-key-0123456789" },
  });
  const { id } = await beckon.createAgent({ model: "mine/gpt-4o" });
  expect(await costNow(id)).toMatchObject({ micros: 2_500_000, origin: "library" });
});

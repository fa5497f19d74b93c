import { randomBytes } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/database.ts";
import { seedAgent } from "../../../test/tenant.ts";
import { createEgress } from "../../base/egress/index.ts";
import { createSecretCipher } from "../../base/secrets/index.ts";
import { circuitPolicy, createCircuits, unknownPrice } from "../../engine/index.ts";
import { AgentCache } from "./agent-cache.ts";

const { database } = await testDatabase();
const egress = createEgress({
  connectTimeoutMs: 1_000,
  headersTimeoutMs: 1_000,
  bodyTimeoutMs: 1_000,
  totalTimeoutMs: 1_000,
  allow: [],
});
afterAll(() => egress.close());

test("the cache of agents is limited by the size of their configurations", async () => {
  const { workspaceId, agentId } = await seedAgent(database);
  const versions = 50;
  await database.engine.query(
    `insert into agent_versions (agent_id, workspace_id, version, config, created_by)
      select agent_id, workspace_id, number,
        jsonb_set(config, '{instructions}', to_jsonb(repeat('x', 400000))), created_by
      from agent_versions, generate_series(2, $2) as number
      where agent_id = $1`,
    [agentId, versions],
  );
  const cache = new AgentCache({
    database,
    cipher: createSecretCipher(randomBytes(32)),
    circuits: createCircuits(circuitPolicy(10)),
    extraTools: [],
    unrestricted: egress,
    egress,
    operator: undefined,
    pricer: () => unknownPrice,
  });
  const pinned = (agentVersion: number) => ({
    runId: "run_1",
    workspaceId,
    agentId,
    agentVersion,
    providerStamp: null,
  });
  for (let version = 1; version <= versions; version++) await cache.prepare(pinned(version));
  const cached = Array.from({ length: versions }, (_, index) => index + 1).filter(
    (version) => cache.find(pinned(version)) !== undefined,
  );
  // Each version takes 1.6 MB, 4 bytes for each byte of its configuration. The cache has 64 MiB.
  expect([cached.length, cached.at(-1)]).toEqual([41, versions]);
});

import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { executedStatements } from "../../test/executed-statements.ts";
import { probedOperator } from "../../test/probed-operator.ts";
import { seedWorkspace } from "../../test/tenant.ts";
import { inWorkspace } from "../base/database/index.ts";
import { newId } from "../base/ids.ts";
import { createLog } from "../base/log.ts";
import { createSecretCipher } from "../base/secrets/index.ts";
import { createEvaluator } from "../mapping/index.ts";
import { importAgents } from "./index.ts";

// No server runs in this file's process, because its statements would be counted too.
const { database } = await testDatabase();
const services = {
  database,
  cipher: createSecretCipher(randomBytes(32)),
  mapping: createEvaluator({ log: createLog("silent") }),
  actor: { kind: "system" },
  egress: { missingAddressException: () => undefined },
} as const;

/** Creates a workspace with two providers, and imports the agents into it. */
async function importInto(agents: readonly unknown[]) {
  const workspaceId = await seedWorkspace(database);
  await inWorkspace(database.tenant, workspaceId, (tx) =>
    tx
      .insertInto("providers")
      .values(
        ["first", "second"].map((name) => ({
          id: newId("prv"),
          workspace_id: workspaceId,
          name,
          kind: "openai-compatible",
          base_url: "http://127.0.0.1:9/v1",
          free: true,
        })),
      )
      .execute(),
  );
  const executed = await executedStatements(async () => {
    await importAgents({
      ctx: { ...services, workspaceId },
      input: { body: { ok: true, value: { beckon: 1, agents } } },
    });
  });
  return { workspaceId, executed };
}

const toolWithSecrets = (count: number) => ({
  type: "http",
  name: "shop",
  allowed_hosts: ["api.example.com"],
  headers: Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`x-${n}`, { secret: "12345678" }]),
  ),
  operations: [
    { name: "read", description: "Reads", method: "GET", url: "https://api.example.com/" },
  ],
});

const agents = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    name: `Agent ${n}`,
    model: ["demo/echo", `first/model-${n}`, "second/model"][n % 3],
    tools: [toolWithSecrets(2)],
    paused: n % 2 === 0,
    triggers: [{ name: "Push", receiving: { preset: "github" } }, { name: "Mail" }],
  }));

// Events and usage are read in the order of commits: readers wait while an import is not committed.
test("an import of many agents has as many statements as one of a few", async () => {
  const few = await importInto(agents(3));
  const many = await importInto(agents(60));
  expect(many.executed.length).toBe(few.executed.length);
});

test("an import can have more secrets than a statement has parameters", async () => {
  const { workspaceId } = await importInto(
    Array.from({ length: 345 }, (_, n) => ({
      name: `Agent ${n}`,
      model: "demo/echo",
      tools: [toolWithSecrets(32)],
    })),
  );
  const { rows } = await database.engine.query(
    "select count(*)::int from agent_secrets where workspace_id = $1",
    [workspaceId],
  );
  expect(rows).toEqual([{ count: 345 * 32 }]);
});

test("an import probes each model server once, before it uses the database", async () => {
  const workspaceId = await seedWorkspace(database);
  const names = ["ollama", "vllm"];
  const probes: (readonly string[])[] = [];
  await executedStatements(async (soFar) => {
    const operator = await probedOperator(workspaceId, names, () => probes.push(soFar()));
    const alternating = Array.from({ length: 6 }, (_, n) => ({
      name: `Agent ${n}`,
      model: `${names[n % 2]}/scripted`,
    }));
    await importAgents({
      ctx: { ...services, workspaceId, operator },
      input: { body: { ok: true, value: { beckon: 1, agents: alternating } } },
    });
  });
  expect(probes).toEqual([[], []]);
});

import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { testDatabase } from "../../test/database.ts";
import { executedStatements } from "../../test/executed-statements.ts";
import { probedOperator } from "../../test/probed-operator.ts";
import { seedWorkspace } from "../../test/tenant.ts";
import type { Context } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { createSecretCipher } from "../base/secrets/index.ts";
import {
  createAgent,
  findOperatorProviders,
  planDraft,
  requireAgent,
  type ToolAddressServices,
  updateAgent,
} from "./index.ts";

// No server runs in this file's process, because its statements would be counted too.
const { database } = await testDatabase();

test("model servers are probed before the transaction, and not for a model that stays", async () => {
  const workspaceId = await seedWorkspace(database);
  const cipher = createSecretCipher(randomBytes(32));
  const egress = { missingAddressException: () => undefined };
  const services = { database, cipher, egress, actor: { kind: "system" }, workspaceId } as const;
  /** Returns the statements that were executed before each probe. No server was probed earlier. */
  const probesOf = async (act: (ctx: Context & ToolAddressServices) => Promise<unknown>) => {
    const probes: (readonly string[])[] = [];
    await executedStatements(async (soFar) => {
      const names = ["ollama", "vllm"];
      const operator = await probedOperator(workspaceId, names, () => probes.push(soFar()));
      await act({ ...services, operator });
    });
    return probes;
  };

  let agentId = "";
  const create = async (ctx: Context & ToolAddressServices) => {
    const value = { name: "Test", model: "ollama/scripted" };
    agentId = (await createAgent({ ctx, input: { body: { ok: true, value } } })).data.id;
  };
  const update = (value: object) => (ctx: Context & ToolAddressServices) =>
    updateAgent({ ctx, input: { agentId, body: { ok: true, value } } });
  const draft = (change: object) => async (ctx: Context & ToolAddressServices) => {
    const foundProviders = await findOperatorProviders(ctx, { ok: true, value: change });
    await inWorkspace(database.tenant, workspaceId, async (tx) =>
      planDraft(tx, ctx, await requireAgent(tx, ctx, agentId), change, foundProviders),
    );
  };
  expect(await probesOf(create)).toEqual([[]]);
  expect(await probesOf(update({ model: "vllm/scripted" }))).toEqual([[]]);
  expect(await probesOf(update({ description: "Other" }))).toEqual([]);
  expect(await probesOf(draft({ model: "ollama/scripted" }))).toEqual([[]]);
  expect(await probesOf(draft({ description: "Other" }))).toEqual([]);
});

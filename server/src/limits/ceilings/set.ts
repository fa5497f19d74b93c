import { type Ceiling, setCeilingBody } from "@beckon/contract";
import { changes, record } from "../../base/audit/index.ts";
import { type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import { announceLimits } from "../announce.ts";
import { lockBudgets, putBudgets } from "../budgets/index.ts";
import type { LimitServices } from "../services.ts";
import { budgetOf, noCeiling, noScope, refOf, toCeiling } from "./ceiling.ts";
import { findScopeName, putCeiling, readCeilings } from "./store.ts";

/**
 * Sets the ceiling of the workspace or of an agent, key or trigger. What was spent since the start
 * of the day counts towards it; this sum is exact when the function returns. If the ceiling is
 * raised, runs that wait for it continue at once. If it is lowered, the new limit applies from the
 * next reservation on.
 * @throws ApiError `bad_request`, including when `pauses_agent` is set for a ceiling that is not an
 *   agent's; `forbidden`; `not_found`
 */
export async function setCeiling({
  ctx,
  input,
}: {
  ctx: Context & LimitServices;
  input: { scope: string; scopeId: string; body: UnparsedBody };
}): Promise<Ceiling> {
  permit(ctx, "limits:write");
  const { workspaceId, database } = ctx;
  const ref = refOf(input);
  const budget = budgetOf(workspaceId, ref);
  const created = await inWorkspace(database.tenant, workspaceId, async (tx) => {
    if ((await findScopeName(tx, workspaceId, ref)) === undefined) throw noScope(ref.scope);
    const values = parseBody(setCeilingBody, input.body);
    if (values.pauses_agent && ref.scope !== "agent") throw pausesNoAgent(ref.scope);
    await lockBudgets(tx, [budget]);
    const before = await putCeiling(tx, workspaceId, ref, values);
    const isNew = await putBudgets(tx, [
      { ...budget, allowed: values.limit_micros, pausesAgent: values.pauses_agent },
    ]);
    await record(tx, ctx, {
      action: "limit.set",
      target: ref.scopeId,
      data: { scope: ref.scope, ...changes(before ?? {}, values) },
    });
    return isNew;
  });
  await announceLimits(ctx, [workspaceId], created);
  return inWorkspace(database.tenant, workspaceId, async (tx) => {
    const [row] = await readCeilings(tx, workspaceId, { ...ref, limit: 1 });
    // Another request may have deleted the ceiling since it was set.
    if (row === undefined) throw noCeiling(ref);
    return toCeiling(ctx, row);
  });
}

function pausesNoAgent(scope: string): ApiError {
  return new ApiError(
    "bad_request",
    `pauses_agent: a ceiling of a ${scope} cannot pause an agent, only a ceiling of an agent can. Leave the field out.`,
  );
}

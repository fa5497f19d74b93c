import { type Run, type TrialRequest, testTriggerBody } from "@beckon/contract";
import { type Context, permit } from "../base/context.ts";
import { inWorkspace } from "../base/database/index.ts";
import { ApiError, attempt, type Result } from "../base/errors.ts";
import type { Once } from "../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../base/parse.ts";
import type { MappingServices } from "../mapping/index.ts";
import { type ReceivedBodyHold, toPayload } from "../receiving/index.ts";
import { type RunServices, startManaged } from "../runs/index.ts";
import { ownBody, readTrialRequest, startMapped, withBodyHold } from "./requests/index.ts";
import type { TriggerRow } from "./store.ts";
import { requireTrigger, type TriggerInput } from "./trigger.ts";

/**
 * Starts the run that a request with this payload to the trigger's URL would start. The caller does
 * not need the URL. The run belongs to the trigger, and its principal is the caller.
 * @returns the new run or, if the Idempotency-Key was used before, the run that the earlier request
 *   started.
 * @throws ApiError `forbidden`, `not_found`, `trigger_disabled`, `unsupported_type`; of a trigger
 *   with settings also `conflict` and `mapping_error`; and the errors of `startManaged`.
 */
export async function testTrigger({
  ctx,
  input,
}: {
  ctx: Context & MappingServices & { runs: RunServices };
  input: TriggerInput & { body: UnparsedBody };
}): Promise<Once<Run>> {
  permit(ctx, "triggers:write");
  permit(ctx, "agents:invoke");
  return withBodyHold(ctx, (hold) => testWith(ctx, input, hold));
}

async function testWith(
  ctx: Context & MappingServices & { runs: RunServices },
  input: TriggerInput & { body: UnparsedBody },
  hold: ReceivedBodyHold,
): Promise<Once<Run>> {
  const { row, raw } = await inWorkspace(ctx.database.tenant, ctx.workspaceId, async (tx) => {
    const row = await requireTrigger(tx, ctx, input);
    const trial = trialOf(row, input.body);
    const raw = trial && (await readTrialRequest(tx, ctx, row, trial, hold.growBytes));
    return { row, raw };
  });
  const audit = { action: "trigger.test", data: { trigger_id: row.id } };
  if (raw !== undefined)
    return startMapped(ctx, { row, raw, hold, version: null, error: disabled(row), audit });
  const body = attempt(() => readPayload(input.body));
  return startManaged(ctx, {
    source: "trigger",
    agentId: row.agent_id,
    contentType: body.ok ? body.value.contentType : null,
    payload: ifEnabled(row, body),
    details: { triggerId: row.id, promptPrefix: row.prompt_prefix },
    audit,
  });
}

/**
 * Returns the request to map. Returns undefined if the body is not valid, or if it is only a
 * payload and the trigger has no settings.
 */
function trialOf({ receiving }: TriggerRow, body: UnparsedBody): TrialRequest | undefined {
  const given = attempt(() => parseBody(testTriggerBody, body, {}));
  if (!given.ok) return undefined;
  const { request, ...own } = given.value;
  return request ?? (receiving === null ? undefined : own);
}

interface Payload {
  readonly payload: string;
  readonly contentType: string | null;
}

function readPayload(body: UnparsedBody): Payload {
  const { payload, content_type } = parseBody(testTriggerBody, body, {});
  const { text, type } = ownBody(payload, content_type);
  return { payload: toPayload(type, () => text), contentType: type ?? null };
}

/**
 * Returns the payload, or an error if the trigger is disabled. The error is returned and not
 * thrown, so that two results of `startManaged` take precedence: the earlier run if the request is
 * a repeat, and the error of a paused agent.
 */
function ifEnabled(row: TriggerRow, body: Result<Payload>): Result<string> {
  const error = disabled(row);
  if (error !== undefined) return { ok: false, error };
  return body.ok ? { ok: true, value: body.value.payload } : body;
}

function disabled({ enabled }: TriggerRow): ApiError | undefined {
  if (enabled) return undefined;
  return new ApiError("trigger_disabled", "This trigger is disabled. Enable it to start runs.");
}

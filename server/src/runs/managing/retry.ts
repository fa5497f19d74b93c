import { type Run, retryRunBody } from "@beckon/contract";
import { agentLimit, type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { ApiError, attempt, type Result } from "../../base/errors.ts";
import type { Once } from "../../base/idempotency/index.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import { mediaTypeOf } from "../../receiving/index.ts";
import { missingRun } from "../../retention/index.ts";
import type { StartPorts } from "../starting/index.ts";
import { copyFiles } from "./copy-files.ts";
import { type RetriedRun, readRetried, readSenderEvent } from "./retry-store.ts";
import { permitDraft } from "./start-draft.ts";
import { startManaged } from "./start-managed.ts";

/**
 * Retries a run that has ended: starts a new run with the original payload or another input, and
 * with the agent's current version or the original one. The new run gets the labels of the original
 * run. A draft run is retried with the configuration that is stored with it. A run can be retried
 * even if its trigger is disabled or deleted. If a limit failed the run when it was created, the id
 * of its event is bound to the new run. Files of the run that the input names are copied.
 *
 * @returns the new run or, if the Idempotency-Key was used before, the run that the earlier request
 *   started; if a limit failed the run and its event has another run by now, that run.
 * @throws ApiError `forbidden`, `not_found`, `conflict`, and the errors of `startManaged`.
 */
export async function retryRun({
  ctx,
  input,
}: {
  ctx: Context & { runs: StartPorts };
  input: { runId: string; body: UnparsedBody };
}): Promise<Once<Run>> {
  permit(ctx, "runs:write");
  const body = attempt(() => parseBody(retryRunBody, input.body, {}));
  const { version: wanted = "current", input: newInput } = body.ok ? body.value : {};
  // With another input the actor does not repeat an earlier request but makes a new one, which
  // needs the permission to call the agent.
  if (newInput !== undefined) permit(ctx, "agents:invoke");
  const { workspaceId } = ctx;
  const { runId } = input;
  const { retried, senderEvent, copied } = await inWorkspace(
    ctx.database.tenant,
    workspaceId,
    async (tx) => {
      const run = await readRetried(tx, { workspaceId, runId, agentIds: agentLimit(ctx) });
      if (run === undefined) throw await missingRun(tx, ctx, runId);
      const repeatsEvent = body.ok && !run.isUnmapped;
      return {
        retried: run,
        // Binds the event's id. Otherwise the sender's next attempt would start a second run.
        senderEvent:
          run.source === "trigger" && (repeatsEvent || newInput !== undefined)
            ? await readSenderEvent(tx, { workspaceId, runId, isUnbound: newInput !== undefined })
            : undefined,
        copied: await copyFiles(tx, { workspaceId, runId }, newInput ?? run.payload),
      };
    },
  );
  if (retried.draft !== undefined) permitDraft(ctx);
  const version = retried.draft === undefined ? wanted : "original";
  return startManaged(ctx, {
    source: retried.source,
    agentId: retried.agentId,
    contentType: newInput === undefined ? retried.contentType : null,
    labels: retried.labels,
    payload: payloadOf(retried, copied, body),
    senderEvent,
    files: copied.files,
    details: {
      version: version === "original" ? retried.agentVersion : null,
      triggerId: retried.triggerId,
      // Clients see a run's input with the prefix, so an input that they edited already contains
      // the prefix.
      promptPrefix: newInput === undefined ? retried.promptPrefix : "",
      retryOf: retried.runId,
      draft: retried.draft,
    },
    audit: {
      action: "run.retry",
      data: {
        retry_of: retried.runId,
        version,
        ...(newInput === undefined ? {} : { new_input: true }),
      },
    },
  });
}

function payloadOf(
  { contentType, ended, isUnmapped }: RetriedRun,
  { input, lacksFiles }: Awaited<ReturnType<typeof copyFiles>>,
  body: Result<{ input?: string | undefined }>,
): Result<string> {
  if (!body.ok) return body;
  if (!ended)
    return conflict(
      "This run has not ended. Retry it once its finished_at is set, or cancel it first.",
    );
  // The payload is the body as it arrived, to which neither filter nor template was applied.
  const isNew = body.value.input !== undefined;
  if (isUnmapped && !isNew)
    return conflict(
      "The trigger's filter or message template failed, so the agent never got this request. Replay it with POST …/requests/:request_id/replay, or send input.",
    );
  if (lacksFiles && !isNew && mediaTypeOf(contentType ?? undefined) === "multipart/form-data")
    return conflict(
      "The files of this run's form were not stored with the run. Replay its request with POST …/requests/:request_id/replay, or send input.",
    );
  return { ok: true, value: input };
}

function conflict(message: string): Result<never> {
  return { ok: false, error: new ApiError("conflict", message) };
}

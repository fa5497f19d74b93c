import type { EventOnWire } from "@beckon/contract";
import type { Context } from "../../base/context.ts";
import { unavailableIfLost } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { readEvents } from "../journal/index.ts";
import { readProgress } from "../subscribing/index.ts";

/** Largest `seq` that PostgreSQL's type `int` can store. */
const maxSeq = 2_147_483_647;

/**
 * Returns one event of a run's journal.
 * @param input.seq as in the path: digits without a leading zero.
 * @throws ApiError `forbidden`, `not_found`; `unavailable` if the database cannot be reached.
 */
export async function getRunEvent({
  ctx,
  input,
}: {
  ctx: Context;
  input: { runId: string; seq: string };
}): Promise<EventOnWire> {
  await readProgress(ctx, input.runId);
  const seq = /^[1-9]\d{0,9}$/.test(input.seq) ? Number(input.seq) : undefined;
  const run = { runId: input.runId, workspaceId: ctx.workspaceId };
  const [event] =
    seq === undefined || seq > maxSeq
      ? []
      : await readEvents(ctx.database, run, seq - 1, 1).catch((thrown) => {
          throw unavailableIfLost(thrown);
        });
  if (event?.seq === seq && event !== undefined) return event;
  throw new ApiError("not_found", "This run has no event with this seq.");
}

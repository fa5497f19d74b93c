import type { Context } from "../../base/context.ts";
import { ReceivedBodyHold } from "../../receiving/index.ts";
import type { RunServices } from "../../runs/index.ts";

/** The services that an operation needs to read or decode the body of a received request. */
export type BodyServices = { readonly runs: Pick<RunServices, "memory"> };

/**
 * Calls `work` with a hold, which counts the memory of bodies against the budget of the caller's
 * workspace. The hold is released when `work` is done.
 */
export async function withBodyHold<T>(
  ctx: Context & BodyServices,
  work: (hold: ReceivedBodyHold) => Promise<T>,
): Promise<T> {
  const hold = new ReceivedBodyHold(ctx.runs.memory, ctx.workspaceId);
  try {
    return await work(hold);
  } finally {
    hold.release();
  }
}

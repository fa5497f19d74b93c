import { type Replayed, replayBody } from "@beckon/contract";
import { record } from "../../base/audit/index.ts";
import { agentLimit, type Context, permit } from "../../base/context.ts";
import { inWorkspace } from "../../base/database/index.ts";
import { ApiError } from "../../base/errors.ts";
import { type Once, once } from "../../base/idempotency/index.ts";
import { lowestIdAt, timeOf, wholeMilliseconds } from "../../base/ids.ts";
import { parseBody, type UnparsedBody } from "../../base/parse.ts";
import { type DeliveryServices, originOf } from "../../deliveries/index.ts";
import {
  requireEnabled,
  requireSubscriptionForChange,
  type SubscriptionInput,
} from "../subscription.ts";
import {
  countPending,
  type Replayable,
  type ReplayRange,
  replayDeliveryRows,
  selectReplayable,
} from "./replay-store.ts";

/** Maximum deliveries that one request replays. */
const maxReplayed = 10_000;
/**
 * Maximum pending deliveries that a subscription has after a replay of deliveries that have ended.
 * The sender disables a subscription with more than `defaultDeliveryLimits.maxPending`, so 50,000
 * deliveries of new events can still be added.
 */
const maxPendingAfterReplay = 50_000;

/**
 * Sends deliveries in a time range again, newest first: those that have ended, and those that wait
 * for their next attempt. All attempts start over, with the same `webhook-id`.
 * @throws ApiError `bad_request`, `forbidden`, `not_found`; `conflict` if the subscription is not
 *   enabled, or if too many of its deliveries are pending and the newest one of the range has ended.
 */
export async function replayDeliveries({
  ctx,
  input,
}: {
  ctx: Context & DeliveryServices;
  input: SubscriptionInput & { body: UnparsedBody };
}): Promise<Once<Replayed>> {
  permit(ctx, "subscriptions:write");
  const { workspaceId } = ctx;
  const key = { workspaceId, subscriptionId: input.subscriptionId };
  const result = await inWorkspace(ctx.database.tenant, workspaceId, async (tx) => {
    const subscription = await requireSubscriptionForChange(tx, ctx, input);
    return once(tx, ctx, async () => {
      const { since, until, which } = parseBody(replayBody, input.body);
      requireEnabled(subscription);
      const end = until === undefined ? tomorrow() : new Date(until);
      const range = {
        which,
        agentIds: agentLimit(ctx),
        from: lowestIdAt("dlv", new Date(since)),
        below: lowestIdAt("dlv", end),
        origin: originOf(subscription),
      };
      const newest = await selectReplayable(tx, key, range, maxReplayed + 1);
      const capacity = maxPendingAfterReplay - (await countPending(tx, key, maxPendingAfterReplay));
      const limit = countFitting(newest.found, capacity);
      if (limit === 0 && newest.found.length > 0) throw tooManyPending(which);
      const { chosen, ...next } = choose(newest, limit);
      const replayed = await replayDeliveryRows(tx, key, chosen);
      await record(tx, ctx, {
        action: "subscription.replay",
        target: subscription.id,
        data: { since, until: until ?? null, which, replayed },
      });
      return { replayed, ...next };
    });
  });
  ctx.deliveries.changed();
  return result;
}

/** Returns a time later than every event, even if another machine's clock is ahead. */
function tomorrow(): Date {
  return new Date(Date.now() + 24 * 60 * 60 * 1000);
}

/**
 * Returns how many of the newest deliveries one request can replay. Waiting ones are pending
 * already, so they need no capacity. Of a millisecond whose deliveries exceed the capacity, none
 * is replayed: the next request would cover it again, and replay those that were sent meanwhile.
 * @param capacity how many others can become pending
 */
function countFitting(found: readonly Replayable[], capacity: number): number {
  let ended = 0;
  const excess = found.find(({ is_waiting }) => !is_waiting && ++ended > capacity);
  const fitting =
    excess === undefined
      ? found.length
      : found.findIndex(({ id }) => timeOf(id) <= timeOf(excess.id));
  return Math.min(maxReplayed, fitting);
}

function tooManyPending(which: ReplayRange["which"]): ApiError {
  const missed = " Or replay only missed ones, which include those that wait.";
  return new ApiError(
    "conflict",
    `At most ${maxPendingAfterReplay.toLocaleString("en")} deliveries of this subscription can be pending. ` +
      `Wait until some are sent.${which === "all" ? missed : ""}`,
  );
}

/**
 * Returns the deliveries that this request replays, and how the next one continues. Waiting and
 * ended deliveries have one order, so that the next request leaves out all that this one replays:
 * they can have succeeded by then.
 */
function choose(
  { found, lastRead }: Awaited<ReturnType<typeof selectReplayable>>,
  limit: number,
): Pick<Replayed, "more" | "next_until"> & { readonly chosen: readonly string[] } {
  const ids = found.map(({ id }) => id);
  if (lastRead === undefined || limit < ids.length) {
    const { chosen, isPart } = wholeMilliseconds(ids, limit);
    return {
      chosen,
      more: ids.length > chosen.length,
      next_until: nextUntil(chosen.at(-1), isPart),
    };
  }
  // Some deliveries of the last millisecond may not have been read, so the next request covers it.
  // A millisecond never has so many deliveries that this request would cover no other.
  const last = timeOf(lastRead);
  return {
    chosen: ids.filter((id) => timeOf(id) > last),
    more: true,
    next_until: nextUntil(lastRead, true),
  };
}

/**
 * Returns the `until` with which the next request must continue; null if nothing was replayed.
 * @param isPart whether only some deliveries of the oldest millisecond were replayed. The next
 *   request then covers this millisecond again.
 */
function nextUntil(oldest: string | undefined, isPart: boolean): string | null {
  if (oldest === undefined) return null;
  return new Date(timeOf(oldest).getTime() + (isPart ? 1 : 0)).toISOString();
}

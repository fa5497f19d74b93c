import type { BeckonClient, ReplayDeliveriesBody } from "@beckon/client";

interface ReplayControl {
  /**
   * Beginning of the Idempotency-Keys of all requests. If the range is sent again with the same key
   * because a response was lost, no delivery is replayed twice.
   */
  readonly key: string;
  /** Called after each request with the number of deliveries replayed so far. */
  readonly onProgress: (replayed: number) => void;
  /** If it aborts, no further request is sent. */
  readonly signal: AbortSignal;
}

/**
 * Replays all deliveries of a range from the newest to the oldest, at most 10,000 in each request.
 * @returns the number of deliveries that are pending again
 * @throws BeckonError if a request fails. Deliveries that earlier requests replayed stay pending.
 */
export async function replayRange(
  client: Pick<BeckonClient, "subscriptions">,
  subscriptionId: string,
  range: ReplayDeliveriesBody,
  { key, onProgress, signal }: ReplayControl,
): Promise<number> {
  let body = range;
  let total = 0;
  for (let request = 0; !signal.aborted; request++) {
    // The key contains the number of the request and not its `until`, which two requests can share:
    // one millisecond can have more deliveries than one request replays.
    const idempotencyKey = `${key} ${request}`;
    const {
      replayed,
      more,
      next_until: until,
    } = await client.subscriptions.replayDeliveries(subscriptionId, body, { idempotencyKey });
    total += replayed;
    onProgress(total);
    if (!more || until === null) break;
    body = { ...body, until };
  }
  return total;
}

import type { BeckonClient, ReplayDeliveriesBody } from "@beckon/client";

/** A request replays at most 10,000 deliveries, so a range can need several. */
const maxRequests = 200;

/**
 * Replays all deliveries of a range, request by request from the newest to the oldest.
 * @param onProgress called after each request with the number so far
 * @returns the number of deliveries that are pending again
 */
export async function replayRange(
  client: BeckonClient,
  subscriptionId: string,
  range: ReplayDeliveriesBody,
  onProgress: (replayed: number) => void,
): Promise<number> {
  let body = range;
  let total = 0;
  for (let request = 0; request < maxRequests; request++) {
    const {
      replayed,
      more,
      next_until: until,
    } = await client.subscriptions.replayDeliveries(subscriptionId, body);
    total += replayed;
    onProgress(total);
    if (!more || until === null) break;
    body = { ...body, until };
  }
  return total;
}

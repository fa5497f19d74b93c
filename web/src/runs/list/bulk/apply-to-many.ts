import { type BeckonClient, BeckonError, type Run } from "@beckon/client";
import type { BulkAction, BulkBody } from "./bulk-body.ts";

/** The runs to change: some by their ids, or all that match the body of a bulk operation. */
export type BulkTarget = { readonly ids: readonly string[] } | { readonly body: BulkBody };

/**
 * Maximum number of concurrent requests. A browser opens at most six HTTP/1.1 connections to a
 * server, and streams use some of them.
 */
const maxConcurrent = 3;

/**
 * Cancels or deletes runs, and reports the number of changed runs as it grows. If the signal
 * aborts, no further request is sent, and the promise resolves with the number so far.
 * @returns how many runs were changed. A selected run is not counted if somebody else has deleted
 *   it, if it ended before it could be cancelled, or if it was to be deleted and has not ended.
 * @throws BeckonError if a request fails for another reason. Runs changed before it stay changed.
 */
export async function applyToMany(
  client: Pick<BeckonClient, "runs">,
  action: BulkAction,
  target: BulkTarget,
  onProgress: (changed: number) => void,
  signal: AbortSignal,
): Promise<number> {
  return "ids" in target
    ? applyToEach(client, action, target.ids, onProgress, signal)
    : applyToAll(client, action, target.body, onProgress, signal);
}

async function applyToAll(
  { runs }: Pick<BeckonClient, "runs">,
  action: BulkAction,
  body: BulkBody,
  onProgress: (changed: number) => void,
  signal: AbortSignal,
): Promise<number> {
  let changed = 0;
  let after: string | null | undefined;
  while (after !== null && !signal.aborted) {
    const page = { ...body, ...(after === undefined ? {} : { after }) };
    if (action === "cancel") {
      const answer = await runs.cancelMany(page);
      changed += answer.cancelled;
      after = answer.next;
    } else {
      const answer = await runs.deleteMany(page);
      changed += answer.deleted;
      after = answer.next;
    }
    onProgress(changed);
  }
  return changed;
}

async function applyToEach(
  { runs }: Pick<BeckonClient, "runs">,
  action: BulkAction,
  ids: readonly string[],
  onProgress: (changed: number) => void,
  signal: AbortSignal,
): Promise<number> {
  const left = [...ids];
  let changed = 0;
  const work = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) {
      if (signal.aborted) return;
      try {
        if (action === "delete") await runs.delete(id);
        else if (hasEndedItself(await runs.cancel(id))) continue;
        changed += 1;
        onProgress(changed);
      } catch (thrown) {
        // 404: the run was deleted since the list was read. 409: a run to delete has not ended.
        if (thrown instanceof BeckonError && [404, 409].includes(thrown.status ?? 0)) continue;
        left.length = 0;
        throw thrown;
      }
    }
  };
  // If one request fails, others are still in flight. `allSettled` waits for them, so that
  // `onProgress` also counts the runs that they change.
  const ends = await Promise.allSettled(Array.from({ length: maxConcurrent }, work));
  const failed = ends.find((end) => end.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  return changed;
}

/** Returns whether the run ended before it was cancelled. Cancelling such a run is no error. */
const hasEndedItself = ({ status }: Pick<Run, "status">) =>
  status === "succeeded" || status === "failed";

import { createTurns } from "../base/byte-budget.ts";
import type { Database } from "../base/database/index.ts";
import type { Position } from "./position.ts";
import { type EventBatch, type EventSources, readEventBatch } from "./store.ts";

/**
 * Reads a batch of a workspace's events for a subscriber that is behind the event poller. Resolves
 * to undefined if there is no batch because `signal` aborted.
 */
export type CatchUp = (
  workspaceId: string,
  options: {
    readonly after: Position;
    readonly upTo: Position;
    readonly limit: number;
    readonly sources: EventSources | undefined;
    readonly signal: AbortSignal;
  },
) => Promise<EventBatch | undefined>;

/**
 * Maximum number of queries at a time; one workspace gets half of them. It keeps connections free
 * for writes even if hundreds of streams are opened with old cursors.
 */
const maxQueries = 4;

/**
 * A stream holds a batch until its client has read it, so the batches of many streams must be
 * small. For the same reason, `keepsText` is true.
 */
const maxCharacters = 64 * 1024;

/** Creates the function with which all subscribers of this process catch up. */
export function createCatchUp(database: Database): CatchUp {
  const inTurn = createTurns({ max: maxQueries, shareMax: 0.5 });
  return (workspaceId, { sources, signal, ...batch }) => {
    const options = { ...batch, ...sources, maxCharacters, keepsText: true };
    const read = () => readEventBatch(database.engine, [workspaceId], options);
    return inTurn(workspaceId, read, signal).catch((thrown) => {
      if (signal.aborted) return undefined;
      throw thrown;
    });
  };
}

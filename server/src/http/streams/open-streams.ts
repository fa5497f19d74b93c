import type { StreamClosed } from "@beckon/contract";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { linkAbort } from "../../base/abort.ts";
import { sleep } from "../../base/clock.ts";
import { type Database, failureKind } from "../../base/database/index.ts";
import { ApiError, messageOf } from "../../base/errors.ts";
import type { HeapGuard } from "../../base/heap-guard.ts";
import type { Log } from "../../base/log.ts";
import { type StreamCredential, stillValid, unauthorizedMessage } from "../../credentials/index.ts";
import { clientGoneSignal, type RequestContext, reportOf, requestIdOf } from "../request/index.ts";
import { type StreamSource, type Timing, writeStream } from "./write-stream.ts";

/** The open event streams of this process. */
export interface Streams {
  /**
   * Takes a slot for a stream of this credential.
   * @throws ApiError `too_many_requests` if the credential or its workspace has too many open
   *   streams; `unavailable` if the process has too many open streams, or if its memory is full
   */
  takeSlot(credential: Pick<StreamCredential, "id" | "workspaceId">): StreamSlot;
  /**
   * Calls `disconnect` if the credential of a response that is being sent is no longer valid. The
   * credential is checked every `checkMs`, together with those of the open streams. Returns a
   * function that ends the checks.
   */
  checkRepeatedly(credential: StreamCredential, disconnect: () => void): () => void;
  /** Number of open streams. */
  readonly count: number;
}

/** Capacity for one stream. `release`, or the end of the stream, frees it. */
export interface StreamSlot {
  /** Streams the source's events as long as the credential is valid. */
  respond(
    c: RequestContext,
    source: StreamSource,
    credential: StreamCredential,
    headers?: Readonly<Record<string, string>>,
  ): Response;
  /** Frees the capacity if the stream was not opened. Does nothing after `respond`. */
  release(): void;
}

/** Limits of event streams. Times are in milliseconds. */
export interface StreamLimits extends Timing {
  /** Milliseconds between two checks of the credentials of open streams. */
  readonly checkMs: number;
  /** Maximum number of streams that are open at once in this process. */
  readonly maxStreams: number;
  /**
   * Maximum number of streams of one workspace that are open at once in this process. It is below
   * `maxStreams`, so that one workspace cannot use up the streams of all others.
   */
  readonly maxPerWorkspace: number;
  /** Maximum number of streams that are open at once with one credential in this process. */
  readonly maxPerCredential: number;
}

/** The limits of event streams in production. */
export const defaultStreamLimits: StreamLimits = {
  heartbeatMs: 15_000,
  retryMs: 1_000,
  checkMs: 2_000,
  maxStreams: 5_000,
  maxPerWorkspace: 3_750,
  maxPerCredential: 2_000,
};

/** An open stream, or another response that is being sent. */
interface OpenResponse {
  readonly credential: StreamCredential;
  /** Ends the response because its credential is no longer valid. */
  readonly revoke: () => void;
}

const revoked: StreamClosed = {
  type: "stream.closed",
  data: { code: "unauthorized", message: unauthorizedMessage },
};

/** Services that event streams use. */
export interface StreamPorts {
  readonly database: Database;
  readonly log: Log;
  /** While the heap is full, no stream is opened: each holds events until its reader takes them. */
  readonly heap: Pick<HeapGuard, "isFull">;
}

/** Creates the registry of the open event streams of this process. */
export function createStreams({ database, log, heap }: StreamPorts, limits: StreamLimits): Streams {
  const { maxStreams, maxPerWorkspace, maxPerCredential, checkMs } = limits;
  const open = new Set<OpenResponse>();
  /** Responses that are not streams, such as exports. */
  const others = new Set<OpenResponse>();
  /** Number of taken slots by credential, and by workspace. */
  const ofCredentials = new Map<string, number>();
  const ofWorkspaces = new Map<string, number>();
  let total = 0;
  let checking = false;

  /**
   * Checks the credentials of all open streams and of the other responses with one query every
   * `checkMs`, until there are none.
   */
  async function check(): Promise<void> {
    checking = true;
    for (;;) {
      await sleep(checkMs);
      const checked = [...open, ...others];
      if (checked.length === 0) break;
      const groups = Map.groupBy(
        checked,
        ({ credential: { id, workspaceId, scope, agentIds } }) =>
          `${id} ${workspaceId} ${scope} ${agentIds?.join() ?? ""}`,
      );
      const credentials = [...groups.values()].flatMap(([first]) => first?.credential ?? []);
      try {
        const valid = await stillValid(database, credentials);
        for (const [first, ...more] of groups.values()) {
          if (first !== undefined && !valid.has(first.credential))
            for (const response of [first, ...more]) response.revoke();
        }
      } catch (thrown) {
        // The responses stay open, because a failed query says nothing about the credentials. The
        // next check repeats the query.
        if (failureKind(thrown) === "lost") log.outages.database.failed(thrown);
        else
          log.write("the credentials of open streams could not be checked", {
            reason: messageOf(thrown),
          });
      }
    }
    checking = false;
  }

  /** Adds a response whose credential is checked. Returns a function that removes it. */
  function add(to: Set<OpenResponse>, response: OpenResponse): () => void {
    to.add(response);
    if (!checking) void check();
    return () => void to.delete(response);
  }

  function takeSlot({ id, workspaceId }: Pick<StreamCredential, "id" | "workspaceId">): StreamSlot {
    requireBelow("credential", maxPerCredential, ofCredentials.get(id));
    requireBelow("workspace", maxPerWorkspace, ofWorkspaces.get(workspaceId));
    if (total >= maxStreams || heap.isFull) {
      const reason =
        total >= maxStreams
          ? "This server has reached its limit of open streams."
          : "This server has no memory for further streams.";
      throw new ApiError("unavailable", `${reason} Try again shortly.`, { retryAfter: 5 });
    }
    count(ofCredentials, id, 1);
    count(ofWorkspaces, workspaceId, 1);
    total++;
    let isTaken = true;
    let hasResponded = false;
    const free = () => {
      if (!isTaken) return;
      isTaken = false;
      total--;
      count(ofCredentials, id, -1);
      count(ofWorkspaces, workspaceId, -1);
    };
    return {
      respond(c, source, credential, headers = {}) {
        hasResponded = true;
        const { incoming, outgoing } = c.env;
        reportOf(incoming).isStream = true;
        const { controller: ending } = linkAbort(clientGoneSignal(outgoing));
        let isRevoked = false;
        const revoke = () => {
          isRevoked = true;
          ending.abort();
        };
        const stream: OpenResponse = { credential, revoke };
        const remove = add(open, stream);
        const closed = () => {
          remove();
          free();
        };
        outgoing.once("close", closed);
        if (outgoing.destroyed) closed();
        writeStream(outgoing, source, {
          signal: ending.signal,
          farewell: () => (isRevoked ? revoked : undefined),
          headers,
          timing: limits,
        }).catch((thrown) =>
          log.write("a stream ended because of an internal error; its reader can resume it", {
            request_id: requestIdOf(outgoing),
            reason: messageOf(thrown),
          }),
        );
        return RESPONSE_ALREADY_SENT;
      },
      release: () => {
        if (!hasResponded) free();
      },
    };
  }

  return {
    takeSlot,
    checkRepeatedly: (credential, revoke) => add(others, { credential, revoke }),
    get count() {
      return open.size;
    },
  };
}

/** @throws ApiError `too_many_requests` if the owner has `max` open streams */
function requireBelow(owner: "credential" | "workspace", max: number, open = 0): void {
  if (open < max) return;
  throw new ApiError(
    "too_many_requests",
    `This ${owner} has ${open} open streams, which is the limit. Close some, or read one stream of the workspace instead of many of runs.`,
    { retryAfter: 5 },
  );
}

/** Adds `change` to the number of `id`. A number of 0 is removed, so that the map does not grow. */
function count(numbers: Map<string, number>, id: string, change: 1 | -1): void {
  const number = (numbers.get(id) ?? 0) + change;
  if (number === 0) numbers.delete(id);
  else numbers.set(id, number);
}

import type { StreamClosed } from "@beckon/contract";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { linkAbort } from "../../base/abort.ts";
import { sleep } from "../../base/clock.ts";
import { type Database, failureKind } from "../../base/database/index.ts";
import { ApiError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { type StreamCredential, stillValid, unauthorizedMessage } from "../../credentials/index.ts";
import { clientGoneSignal, type RequestContext } from "../request/index.ts";
import { type StreamSource, type Timing, writeStream } from "./write-stream.ts";

/** The streams that this process answers with. */
export interface Streams {
  /**
   * Takes room for a stream of this credential, before anything is done for it.
   * @throws ApiError `too_many_requests` or `unavailable` when there is none.
   */
  reserve(credentialId: string): Reservation;
}

/** Room for one stream. It is given back by `release`, or when the stream has ended. */
export interface Reservation {
  /** Answers with the source's events for as long as the credential stands. */
  answer(
    c: RequestContext,
    source: StreamSource,
    held: StreamCredential,
    headers?: Readonly<Record<string, string>>,
  ): Response;
  /** Does nothing once there is an answer. */
  release(): void;
}

/** Limits of event streams. Times are in milliseconds. */
export interface StreamLimits extends Timing {
  /** Milliseconds between two looks whether the credentials of open streams still stand. */
  readonly checkMs: number;
  /** Open at once in this process. */
  readonly maxStreams: number;
  /** And with one credential. */
  readonly maxPerCredential: number;
}

/** The limits of event streams in production. */
export const defaultStreamLimits: StreamLimits = {
  heartbeatMs: 15_000,
  stallMs: 60_000,
  retryMs: 1_000,
  checkMs: 2_000,
  maxStreams: 5_000,
  maxPerCredential: 2_000,
};

interface OpenStream {
  readonly held: StreamCredential;
  /** Ends it: its credential does not stand any more. */
  readonly revoke: () => void;
}

const revoked: StreamClosed = {
  type: "stream.closed",
  data: { code: "unauthorized", message: unauthorizedMessage },
};

/** Makes the keeper of this process's open event streams. */
export function openStreams(
  { database, log }: { database: Database; log: Log },
  limits: StreamLimits,
): Streams {
  const { maxStreams, maxPerCredential, checkMs } = limits;
  const open = new Set<OpenStream>();
  const reserved = new Map<string, number>();
  let total = 0;
  let checking = false;

  /** One query for all streams, while there are any. Whoever may not read any more is told so, and does not come back. */
  async function check(): Promise<void> {
    checking = true;
    for (;;) {
      await sleep(checkMs);
      if (open.size === 0) break;
      const groups = Map.groupBy(
        open,
        ({ held }) => `${held.id} ${held.workspaceId} ${held.scope} ${held.agentIds?.join() ?? ""}`,
      );
      const asked = [...groups.values()].flatMap(([first]) => first?.held ?? []);
      try {
        const standing = await stillValid(database, asked);
        for (const [first, ...more] of groups.values()) {
          if (first !== undefined && !standing.has(first.held))
            for (const stream of [first, ...more]) stream.revoke();
        }
      } catch (thrown) {
        // While the database is away nothing can be revoked either.
        if (failureKind(thrown) !== "lost")
          log.error(
            { reason: messageOf(thrown) },
            "the credentials of open streams could not be checked",
          );
      }
    }
    checking = false;
  }

  function reserve(credentialId: string): Reservation {
    const mine = reserved.get(credentialId) ?? 0;
    if (mine >= maxPerCredential) {
      throw new ApiError(
        "too_many_requests",
        `This credential has ${mine} streams open, and may have no more. Close some, or read one stream for many.`,
        { retryAfter: 5 },
      );
    }
    if (total >= maxStreams) {
      throw new ApiError(
        "unavailable",
        "This server has as many streams open as it takes. Try again shortly; another one may take it.",
        {
          retryAfter: 5,
        },
      );
    }
    reserved.set(credentialId, mine + 1);
    total++;
    let held = true;
    let answered = false;
    const giveBack = () => {
      if (!held) return;
      held = false;
      total--;
      const left = (reserved.get(credentialId) ?? 1) - 1;
      if (left === 0) reserved.delete(credentialId);
      else reserved.set(credentialId, left);
    };
    return {
      answer(c, source, credential, headers = {}) {
        answered = true;
        const { outgoing } = c.env;
        const { controller: ending } = linkAbort(clientGoneSignal(outgoing));
        let isRevoked = false;
        const revoke = () => {
          isRevoked = true;
          ending.abort();
        };
        const stream: OpenStream = { held: credential, revoke };
        open.add(stream);
        if (!checking) void check();
        const closed = () => {
          open.delete(stream);
          giveBack();
        };
        outgoing.once("close", closed);
        if (outgoing.destroyed) closed();
        writeStream(outgoing, source, {
          signal: ending.signal,
          farewell: () => (isRevoked ? revoked : undefined),
          headers,
          timing: limits,
        }).catch((thrown) =>
          log.error(
            { reason: messageOf(thrown) },
            "a stream ended by a fault of ours; its reader may resume it",
          ),
        );
        return RESPONSE_ALREADY_SENT;
      },
      release: () => {
        if (!answered) giveBack();
      },
    };
  }

  return { reserve };
}

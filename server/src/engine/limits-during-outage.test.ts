import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { dataOf, play } from "../../test/engine-run.ts";
import { says, startModelServer, status } from "../../test/model-server.ts";
import { type AttemptLimit, LimitStop } from "./call-limit.ts";
import type { Circuit, Pass } from "./circuit/index.ts";
import { ModelFailure } from "./model-failure.ts";

const server = await startModelServer();
afterAll(() => server.close());
beforeEach(() => server.reset());

const limit: AttemptLimit = {
  maxOutputTokens: 50,
  isReserved: true,
  coversNext: () => false,
  endOfTruncated: undefined,
};
/** The result of a reservation if only the run's own limit applies. */
const ownLimit: AttemptLimit = { ...limit, maxOutputTokens: 70, isReserved: false };

interface Script {
  /** The revision of the workspace's limits when the run starts. */
  readonly revision: number | undefined;
  /**
   * Called while the run waits for its n-th pass, counted from 1. Returns the revision of the
   * workspace's limits after this wait.
   */
  readonly wait: (number: number) => number | undefined;
  /**
   * Result of the n-th request for a reservation, counted from 1; undefined if no limit applies to
   * the run. `deleteLimits` deletes all limits of the workspace. Default: undefined.
   */
  readonly reserve?: (
    number: number,
    deleteLimits: () => void,
  ) => Promise<AttemptLimit> | undefined;
}

/** Plays a run whose limits change while it waits for passes of its circuit. */
async function playWaiting({ revision: initial, wait, reserve }: Script) {
  let revision = initial;
  /** `PlannedAttempt.isFirst` of each request for a reservation. */
  const firsts: boolean[] = [];
  const reports: string[] = [];
  const report = (result: string) => () => {
    // Only the first report of a pass counts.
    if (reports.at(-1) === "waiting") reports[reports.length - 1] = result;
  };
  const circuit: Circuit = {
    startWaiting: () => true,
    stopWaiting: () => {},
    streamNext: () => {},
    needsStream: () => false,
    async enter() {
      reports.push("waiting");
      revision = wait(reports.length);
      const pass: Pass = {
        probe: false,
        last: false,
        received() {},
        answered: report("answered"),
        failed: report("failed"),
        dropped: report("dropped"),
        returned: report("returned"),
      };
      return pass;
    },
  };
  const played = await play(server.url, {
    circuit,
    limitRevision: () => revision,
    limitAttempt: ({ isFirst }) => {
      // As in production, nothing is reserved while no limits of the workspace are known.
      if (revision === undefined) return undefined;
      firsts.push(isFirst);
      const deleteLimits = () => {
        revision = undefined;
      };
      return reserve?.(firsts.length, deleteLimits) ?? Promise.resolve(undefined);
    },
  });
  const maxTokens = server.requests.map(({ body }) => body?.max_tokens);
  return { ...played, reports, maxTokens, firsts, reservations: firsts.length };
}

describe("a run that waits for a model that is down", () => {
  it("reserves before its call if the first limit was set meanwhile", async () => {
    server.script(says("hi"));
    const { outcome, journal, deltas, reports, maxTokens } = await playWaiting({
      revision: undefined,
      wait: () => 1,
      reserve: () => Promise.resolve(limit),
    });
    expect(outcome).toMatchObject({ status: "succeeded" });
    expect(reports).toEqual(["returned", "answered"]);
    expect(maxTokens).toEqual([50]);
    // The pass that the run returned does not count as an attempt.
    expect(dataOf(journal, "run.step")[0]?.retries).toBe(0);
    expect(deltas.filter(({ type }) => type === "step_start")).toHaveLength(1);
  });

  it("ends without a call if the first limit is spent already", async () => {
    const error = { code: "ceiling_reached", message: "The ceiling is reached." } as const;
    const { outcome, reports, maxTokens } = await playWaiting({
      revision: undefined,
      wait: () => 1,
      reserve: () => Promise.reject(new LimitStop({ error })),
    });
    expect(outcome).toMatchObject({ status: "failed", error, cost_micros: 0 });
    expect([reports, maxTokens]).toEqual([["returned"], []]);
  });

  it("sends no start of an attempt if its step times out before it can call", async () => {
    const message = "The model was down for the whole step.";
    const { outcome, deltas } = await playWaiting({
      revision: undefined,
      wait: () => {
        throw new ModelFailure(message, { kind: "timeout", retryable: false });
      },
    });
    expect(outcome).toMatchObject({ status: "failed", error: { code: "model_timeout", message } });
    expect(deltas).toEqual([]);
  });

  it("reserves before its call if only its own limit applied before", async () => {
    server.script(says("hi"));
    const { reports, maxTokens, reservations } = await playWaiting({
      revision: 1,
      wait: () => 2,
      reserve: (number) => Promise.resolve(number === 1 ? ownLimit : limit),
    });
    expect(reports).toEqual(["returned", "answered"]);
    expect([maxTokens, reservations]).toEqual([[50], 2]);
  });

  it("keeps what it has reserved, however often limits change", async () => {
    server.script(says("hi"));
    const { reports, reservations } = await playWaiting({
      revision: 0,
      wait: (number) => number,
      reserve: () => Promise.resolve(limit),
    });
    expect([reports, reservations]).toEqual([["answered"], 1]);
  });

  it("asks again only once for each call if no limit applies to it and limits change all the time", async () => {
    server.script([status(503), says("hi")]);
    const { reports, firsts } = await playWaiting({ revision: 0, wait: (number) => number });
    expect(reports).toEqual(["returned", "failed", "returned", "answered"]);
    // No attempt was sent before the second reservation.
    expect(firsts).toEqual([true, true, false, false]);
  });

  it("asks again for every first limit that is set", async () => {
    server.script(says("hi"));
    const { reports, reservations } = await playWaiting({
      revision: undefined,
      // Each limit is deleted before the run reserves. During the last wait none is set.
      wait: (number) => (number <= 3 ? number : undefined),
      reserve: (_number, deleteLimits) => {
        deleteLimits();
        return undefined;
      },
    });
    expect(reports).toEqual(["returned", "returned", "returned", "answered"]);
    expect(reservations).toBe(3);
  });
});

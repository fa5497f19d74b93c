import { agentConfig, createAgentBody } from "@beckon/contract";
import { expect, test } from "vitest";
import { captureLog } from "../../../test/capture-log.ts";
import { ByteBudget } from "../../base/byte-budget.ts";
import type { Log } from "../../base/log.ts";
import { demoEcho, freePrice, type Model } from "../../engine/index.ts";
import { noAmounts } from "../../reservations/index.ts";
import { endOf } from "../journal/index.ts";
import type { LiveRun } from "../subscribing/index.ts";
import { type ExecutePorts, executeOwned, type OwnedRun } from "./execute.ts";
import type { PreparedAgent } from "./prepared-agent.ts";

test("a run that is stopped while it waits for memory is not left before its reservation is returned", async () => {
  const steps: string[] = [];
  const returning = Promise.withResolvers<void>();
  const { ports, live } = portsOfWaitingRun({
    reservations: {
      returnFirstCall: () => returning.promise.then(() => void steps.push("returned")),
      forget: () => void steps.push("left"),
    },
  });
  const executed = executeOwned(ports, waitingRun());
  live.get("run_1")?.stop("fenced");
  // Lets all promise callbacks that the abort has triggered run before the reservation is returned.
  await new Promise((resolve) => setImmediate(resolve));
  returning.resolve();
  await executed;
  expect(steps).toEqual(["returned", "left"]);
});

test("an unexpected error after the end of a run is logged, and the run is left nevertheless", async () => {
  const { log, named } = captureLog();
  const left: string[] = [];
  const end = () => {
    throw new Error("the span was ended already");
  };
  const { ports, live } = portsOfWaitingRun({
    reservations: { returnFirstCall: async () => {}, forget: (runId) => void left.push(runId) },
    capacity: { release: (count) => void left.push(`capacity ${count}`) },
    tracing: { run: () => ({ rename() {}, set() {}, end }) },
    log,
  });
  const executed = executeOwned(ports, waitingRun());
  const run = live.get("run_1");
  run?.stop("fenced");
  await executed;
  expect(named("executing a run failed unexpectedly")).toMatchObject([
    { run_id: "run_1", reason: "the span was ended already" },
  ]);
  expect(run?.closed).toBe(true);
  expect(live.size).toBe(0);
  expect(left).toEqual(["run_1", "capacity 1"]);
});

test("a run whose time has passed when its agent is prepared calls no model", async () => {
  const called: string[] = [];
  const ends: unknown[] = [];
  const model: Model = {
    ...demoEcho,
    async doGenerate(options) {
      called.push("model");
      return demoEcho.doGenerate(options);
    },
  };
  const config = configOf({ timeout_seconds: 60 });
  const prepared = { config, model, priceOf: freePrice, tools: [], configBytes: 0 };
  const { ports } = portsOfWaitingRun({
    agents: { find: () => undefined, prepare: async () => prepared },
    memory: { runs: new ByteBudget({ maxBytes: 1_000_000 }) },
    reservations: { returnFirstCall: async () => {}, revision: () => undefined, forget() {} },
    process: { holdsLease: () => true },
    reports: { attempted() {}, written() {} },
    appends: {
      async submit(row) {
        ends.push(endOf(row)?.error?.code);
        return { kind: "written", time: "2026-01-01T00:00:00.000Z" };
      },
    },
  });
  await executeOwned(ports, { ...waitingRun(), firstCall: undefined, elapsedMs: 60_000 });
  expect([called, ends]).toEqual([[], ["deadline_exceeded"]]);
});

/** Services that the test of a run replaces. */
interface Replaced {
  readonly reservations: {
    readonly returnFirstCall: () => Promise<void>;
    readonly revision?: () => undefined;
    readonly forget: (runId: string) => void;
  };
  readonly agents?: {
    readonly find: () => undefined;
    readonly prepare: () => Promise<Omit<PreparedAgent, "circuit">>;
  };
  readonly memory?: ExecutePorts["memory"];
  readonly process?: { readonly holdsLease: () => boolean };
  readonly reports?: Pick<ExecutePorts["reports"], "attempted" | "written">;
  readonly appends?: Pick<ExecutePorts["appends"], "submit">;
  readonly capacity?: { readonly release: (count: number) => void };
  readonly tracing?: { readonly run: () => object };
  readonly log?: Log;
}

/** Returns only the services that are used by a run that is stopped while it waits for memory. */
function portsOfWaitingRun({ capacity = { release() {} }, ...replaced }: Replaced) {
  const runs = new ByteBudget({ maxBytes: 1_000_000 });
  const full = runs.hold("wsp_1");
  void full.enter(runs.maxShareBytes, new AbortController().signal);
  const config = configOf();
  const live = new Map<string, LiveRun>();
  const ports = {
    live,
    memory: { runs },
    agents: { find: () => ({ config, configBytes: 0 }) },
    subscribers: { poller: { wake() {} }, outputBuffers: new Map() },
    onReturned() {},
    capacity: { ...capacity, hasOlderRuns: false, hasBacklog: () => false, isOpen: true },
    ...replaced,
  } as unknown as ExecutePorts;
  return { ports, live };
}

function configOf(limits = {}) {
  const body = createAgentBody.parse({ name: "Test", model: "demo/echo", limits });
  return agentConfig.parse(body);
}

function waitingRun(): OwnedRun {
  return {
    runId: "run_1",
    workspaceId: "wsp_1",
    agentId: "agt_1",
    agentVersion: 1,
    owner: "prc_1",
    fence: 1,
    lastSeq: 1,
    providerStamp: null,
    input: "hello",
    inputBytes: 5,
    resumed: false,
    elapsedMs: 0,
    firstCall: {
      kind: "",
      messageBytes: 7,
      reserved: { amounts: noAmounts, revision: 1, isRestricted: true },
    },
  };
}

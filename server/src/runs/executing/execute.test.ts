import { agentConfig, createAgentBody } from "@beckon/contract";
import { expect, test } from "vitest";
import { ByteBudget } from "../../base/byte-budget.ts";
import { noAmounts } from "../../reservations/index.ts";
import type { LiveRun } from "../subscribing/index.ts";
import { type ExecutePorts, executeOwned, type OwnedRun } from "./execute.ts";

test("a run that is stopped while it waits for memory is not left before its reservation is returned", async () => {
  const steps: string[] = [];
  const returning = Promise.withResolvers<void>();
  const runs = new ByteBudget({ maxBytes: 1_000_000 });
  const full = runs.hold("wsp_1");
  void full.enter(runs.maxShareBytes, new AbortController().signal);
  const config = agentConfig.parse(createAgentBody.parse({ name: "Test", model: "demo/echo" }));
  const live = new Map<string, LiveRun>();
  // Contains only the services that are used by a run that is stopped while it waits for memory.
  const ports = {
    live,
    memory: { runs },
    agents: { find: () => ({ config, configBytes: 0 }) },
    subscribers: { pollers: { wake() {} } },
    reservations: {
      giveBack: () => returning.promise.then(() => void steps.push("returned")),
      forget: () => void steps.push("left"),
    },
    onReturned() {},
    capacity: { release() {}, queueEmpty: true, isOpen: true },
  } as unknown as ExecutePorts;
  const run: OwnedRun = {
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
  const executed = executeOwned(ports, run);
  live.get(run.runId)?.stop("fenced");
  // Lets all promise callbacks that the abort has triggered run before the reservation is returned.
  await new Promise((resolve) => setImmediate(resolve));
  returning.resolve();
  await executed;
  expect(steps).toEqual(["returned", "left"]);
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createAgentBody } from "@beckon/contract";
import { expect, test } from "vitest";
import { defaultDeliveryLimits } from "./deliveries/sender.ts";
import { circuitPolicy } from "./engine/circuit/circuit.ts";
import { defaultRetryPolicy, defaultTimeouts } from "./engine/timeouts.ts";
import { defaultConnectionLimits } from "./http/listen.ts";
import { defaultStreamLimits } from "./http/streams/open-streams.ts";
import { largeLimits, maxSmallBytes, smallLimits } from "./mapping/mapping.ts";
import { minRunsPerSecond } from "./retention/pace.ts";
import { clockCheckMinutes } from "./retention/pass-store.ts";
import { defaultPruning } from "./retention/schedule.ts";

/**
 * Compares limits of production with the pages that promise them. Other tests replace these limits,
 * so they pass with any value.
 */

const docs = join(import.meta.dirname, "../../docs");
const textOf = (page: string) =>
  readFileSync(join(docs, page), "utf8").replaceAll(/\s+/g, " ").replaceAll("`", "");

/** Returns the numbers at the places of `#` in the page's sentence. The sentence occurs once. */
function numbersIn(page: string, sentence: string): number[] {
  const pattern = sentence.replaceAll(/[.|()]/g, "\\$&").replaceAll("#", "(\\d[\\d,]*)");
  const found = [...textOf(page).matchAll(new RegExp(pattern, "g"))];
  expect([page, sentence, found.length]).toEqual([page, sentence, 1]);
  return (found[0] ?? []).slice(1).map((number) => Number(number.replaceAll(",", "")));
}

const { heartbeatMs, maxStreams, maxPerCredential, maxPerWorkspace } = defaultStreamLimits;
const { headersMs, requestMs, keepAliveMs, stallMs, checkMs } = defaultConnectionLimits;
const { maxPending, maxFailingSeconds } = defaultDeliveryLimits;
const { failureThreshold, maxPauseMs } = circuitPolicy(2_000);
const agent = createAgentBody.parse({ name: "Agent", model: "demo/echo" }).limits;
const failingDays = maxFailingSeconds / 86_400;
const seconds = (ms: number) => ms / 1_000;
const minutes = (ms: number) => ms / 60_000;
const mebibytes = (bytes: number) => bytes / 1_048_576;

test.each<[page: string, sentence: string, limits: readonly number[]]>([
  ["streams.md", "Every # seconds a stream carries a comment", [seconds(heartbeatMs)]],
  ["install.md", "Beckon sends a comment every # seconds.", [seconds(heartbeatMs)]],
  ["streams.md", "accepts no data for # seconds, while there is some to send", [seconds(stallMs)]],
  ["streams.md", "One process keeps # streams open.", [maxStreams]],
  [
    "streams.md",
    "A credential can have # of them, a workspace #.",
    [maxPerCredential, maxPerWorkspace],
  ],
  [
    "scale.md",
    "streams of a credential (#) or a workspace (#) |",
    [maxPerCredential, maxPerWorkspace],
  ],
  ["scale.md", "all streams of the process (#) |", [maxStreams]],
  ["scale.md", "or headers slowly | closed with 408 after # seconds |", [seconds(headersMs)]],
  ["scale.md", "a body slowly | closed with 408 after # seconds |", [seconds(requestMs)]],
  ["scale.md", "without requests | closed after # seconds |", [seconds(keepAliveMs)]],
  ["scale.md", "reads nothing of a response | closed after # seconds |", [seconds(stallMs)]],
  ["scale.md", "Connections are checked every # seconds.", [seconds(checkMs)]],
  [
    "subscriptions.md",
    "every attempt failed for # days; # days without an attempt",
    [failingDays, failingDays],
  ],
  ["subscriptions.md", "more than # deliveries of events were pending", [maxPending]],
  ["subscriptions.md", "At most # callbacks of a subscription can be pending.", [maxPending]],
  [
    "operate.md",
    "deletes rows: first # minutes after its startup, then # minutes after each pass.",
    [minutes(defaultPruning.firstMs), defaultPruning.intervalSeconds / 60],
  ],
  [
    "operate.md",
    "without any process, the first pass begins # minutes later.",
    [clockCheckMinutes],
  ],
  [
    "operate.md",
    "From # minutes after the start, Beckon deletes rows that are older than their",
    [clockCheckMinutes],
  ],
  ["operate.md", "It deletes up to # runs a second", [minRunsPerSecond]],
  ["managing.md", "runs in the queue | # | 1 to 10,000,000", [agent.max_queued_runs]],
  ["managing.md", "of a run to its end | # | 1 to 86,400", [agent.timeout_seconds]],
  ["managing.md", "that its answer requests | # | 1 to 1,000", [agent.max_steps]],
  ["managing.md", "process crashes each time | # | 1 to 100 ", [agent.max_attempts]],
  ["managing.md", "size of one model response | # (4 MiB)", [agent.max_answer_bytes]],
  [
    "managing.md",
    "Anthropic's API](providers/anthropic.md) | # | 256 to 1,000,000",
    [agent.reserve_output_tokens],
  ],
  [
    "providers/local-servers.md",
    "and one step at most # seconds, streamed or not. Once a streamed answer has begun, it can pause for at most # seconds;",
    [seconds(defaultTimeouts.stepMs), seconds(defaultTimeouts.idleMs)],
  ],
  [
    "providers/README.md",
    "A call is repeated up to # times after a lost connection",
    [defaultRetryPolicy.maxAttempts - 1],
  ],
  [
    "providers/README.md",
    "After # failures in a row, a model of a provider counts as down in the workspace. Its runs then wait within their own time limits, and one call at least every # seconds",
    [failureThreshold, seconds(maxPauseMs)],
  ],
  ["operate.md", "It begins with # failed calls in a row: from then on, ", [failureThreshold]],
  [
    "triggers.md",
    "have # ms and # MiB, and for payloads above # MiB # s and # MiB.",
    [
      smallLimits.timeoutMs,
      smallLimits.heapMib,
      mebibytes(maxSmallBytes),
      seconds(largeLimits.timeoutMs),
      largeLimits.heapMib,
    ],
  ],
])("docs/%s is right: %s", (page, sentence, limits) => {
  expect(limits).toEqual(numbersIn(page, sentence));
});

import type { ReceivedRequest, RequestOutcome } from "@beckon/contract";
import type { KnownStatus } from "../../ui/index.ts";

interface OutcomeText {
  readonly word: string;
  readonly shape: KnownStatus;
  /** What Beckon did with the request, one sentence. */
  readonly meaning: string;
}

/** What became of a request, in the order in which the filter lists it. */
export const outcomes: Readonly<Record<RequestOutcome, OutcomeText>> = {
  started: { word: "Started", shape: "succeeded", meaning: "The request started a run." },
  held: {
    word: "Held",
    shape: "waiting",
    meaning:
      "Its run was held, because the agent was paused or a limit was spent. The run's page shows its state.",
  },
  repeated: {
    word: "Repeated",
    shape: "cancelled",
    meaning:
      "An earlier request had the same event id or Idempotency-Key, so this one started no run of its own.",
  },
  filtered: {
    word: "Filtered out",
    shape: "cancelled",
    meaning: "The filter did not let it pass, so it started no run.",
  },
  captured: {
    word: "Sample",
    shape: "succeeded",
    meaning: "It was captured as a sample while Beckon was listening, so it started no run.",
  },
  mapping_error: {
    word: "Mapping failed",
    shape: "failed",
    meaning: "The filter or the message template failed, so its run failed at once.",
  },
  limit_reached: {
    word: "Limit reached",
    shape: "failed",
    meaning: "A limit was spent, so its run failed at once.",
  },
  invalid_signature: {
    word: "Not verified",
    shape: "failed",
    meaning:
      "It was rejected with 401 because it could not be verified. Its headers and body were not stored.",
  },
  rejected: { word: "Rejected", shape: "failed", meaning: "It was rejected and started no run." },
  honeypot: {
    word: "Spam",
    shape: "cancelled",
    meaning: "The field that people do not see had a value, so it started no run.",
  },
  swallowed: {
    word: "Ignored",
    shape: "cancelled",
    meaning: "The trigger was disabled and is set to accept requests without starting runs.",
  },
};

/** Outcomes of the requests that the preview offers: useful examples, with a stored body. */
export const storedOutcomes: readonly RequestOutcome[] = [
  "started",
  "held",
  "mapping_error",
  "limit_reached",
  "filtered",
  "captured",
  "swallowed",
];

/**
 * The outcomes that can be chosen for a replay of many requests. Some `rejected` requests have no
 * stored body, because they were rejected before they were verified: the server does not replay
 * them. The preview does not offer `rejected` and `honeypot`, because an unreadable body or spam is
 * not a useful example.
 */
export const replayedOutcomes: readonly RequestOutcome[] = [
  ...storedOutcomes,
  "rejected",
  "honeypot",
];

/** Returns whether the request was rejected, or its run failed at once. */
export function hasFailed({ outcome }: Pick<ReceivedRequest, "outcome">): boolean {
  return Object.hasOwn(outcomes, outcome) && outcomes[outcome].shape === "failed";
}

/** Returns why the request cannot be replayed; undefined if it can. */
export function whyNotReplayed(
  request: Pick<ReceivedRequest, "outcome"> & { readonly body: string | null },
): string | undefined {
  if (request.outcome === "invalid_signature")
    return "Only verified requests can be replayed. This one could not be verified.";
  if (request.body === null) return "Its body is not stored.";
  return undefined;
}

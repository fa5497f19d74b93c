import { formatBytes, formatCounted } from "../../format/index.ts";
import { type Draft, type LocationDraft, linesOf } from "./draft.ts";

/** One line for each group of settings, which says what is set. */
export interface Summaries {
  readonly input: string;
  readonly filter: string;
  readonly verification: string;
  readonly events: string;
  readonly bodies: string;
  readonly availability: string;
  readonly forms: string;
}

/** Returns what is set in each group of settings, for the headings of closed groups. */
export function summariesOf(draft: Draft): Summaries {
  return {
    input: listed([
      draft.promptPrefix === "" ? "" : "prefix",
      counted(countOf(draft.headers), "header"),
      counted(linesOf(draft.query).length, "query parameter"),
      draft.template === "" ? "the payload" : "message template",
    ]),
    filter: firstLine(draft.filter) || "All requests start a run",
    verification: listed([verificationText(draft), handshakeText(draft), addressText(draft)]),
    events: listed([
      draft.eventId.at === "none"
        ? "no event id"
        : `id from ${locationText(draft.eventId)}, known for ${daysText(draft.eventIdDays)}`,
      draft.eventType.at === "none" ? "no type" : `type from ${locationText(draft.eventType)}`,
    ]),
    bodies: listed([
      [
        "text, JSON, forms",
        ...bodyNames.filter(([name]) => draft[name]).map(([, text]) => text),
      ].join(", "),
      `up to ${formatBytes((Number(draft.maxKib) || 0) * 1_024)}`,
      draft.maxPerMinute.trim() === "" ? "" : `${draft.maxPerMinute} a minute`,
    ]),
    availability: listed([
      draft.whenPaused === "hold" ? "hold runs while paused" : "reject while paused",
      draft.whenDisabled === "swallow" ? "ignore while disabled" : "reject while disabled",
    ]),
    forms: listed([
      counted(countOf(draft.origins), "origin") || "all origins",
      draft.honeypot.trim() === "" ? "" : `hidden field ${draft.honeypot.trim()}`,
      { json: "answers with JSON", redirect: "redirects", text: "answers with a text" }[
        draft.answer
      ],
    ]),
  };
}

const bodyNames = [
  ["multipart", "multipart"],
  ["xml", "XML"],
  ["ndjson", "NDJSON"],
  ["csv", "CSV"],
  ["gzip", "gzip"],
] as const;

function verificationText(draft: Draft): string {
  switch (draft.kind) {
    case "none":
      return "not verified: the URL is the only secret";
    case "hmac":
      return `HMAC-${draft.algorithm.toUpperCase().replace("SHA", "SHA-")} in ${draft.header || "a header"}`;
    case "header":
      return `secret in ${draft.header || "a header"}`;
    case "basic":
      return "basic authentication";
    case "twilio":
      return "Twilio's signature";
  }
}

const handshakeText = ({ handshake }: Draft) =>
  handshake === "none" ? "" : `handshake of ${handshakeNames[handshake]}`;

/**
 * The name of the sender or standard for each kind of handshake. By a handshake, a sender asks
 * whether its events are wanted.
 */
export const handshakeNames = {
  meta: "Meta",
  dropbox: "Dropbox",
  slack: "Slack",
  cloudevents: "CloudEvents",
} as const;

function addressText({ addresses }: Draft): string {
  const count = countOf(addresses);
  return count === 0 ? "" : `only ${formatCounted(count, "address", "addresses")}`;
}

function locationText({ at, name }: LocationDraft): string {
  return at === "cloudevents" ? "CloudEvents" : name.trim() || "an empty name";
}

const daysText = (days: string) => (days === "1" ? "1 day" : `${days || "?"} days`);
const countOf = (text: string) => text.split(/[\s,]+/).filter((word) => word !== "").length;

function counted(count: number, noun: string): string {
  return count === 0 ? "" : formatCounted(count, noun);
}

const firstLine = (text: string) => text.trim().split("\n")[0] ?? "";

/** Joins the parts that are not empty. The first letter of the result is a capital. */
function listed(parts: readonly string[]): string {
  const text = parts.filter((part) => part !== "").join(" · ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

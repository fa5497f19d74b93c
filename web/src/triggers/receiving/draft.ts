import type { Preset, PresetName, Receiving, ValueLocation, Verification } from "@beckon/contract";
import { wholeNumberIn } from "../../data/form/number-in.ts";

type Kind = Verification["kind"];
type Hmac = Extract<Verification, { kind: "hmac" }>;
/** The part of a request that contains the event id or the event type; `none` if no part does. */
export type LocationKind = "none" | "header" | "query" | "pointer" | "cloudevents";

/** A location in the form: its kind, and the name or pointer that was typed. */
export interface LocationDraft {
  readonly at: LocationKind;
  readonly name: string;
}

/** The settings of a trigger as they are typed. */
export interface Draft {
  readonly promptPrefix: string;
  /** True for a trigger without settings. Of the other fields, only `promptPrefix` is then used. */
  readonly isDefault: boolean;
  readonly preset: PresetName | null;
  readonly kind: Kind;
  readonly header: string;
  readonly prefix: string;
  readonly algorithm: Hmac["algorithm"];
  readonly encoding: Hmac["encoding"];
  readonly form: Hmac["form"];
  /** The signed text as a pattern, such as `v0:{timestamp}:{body}`. */
  readonly signed: string;
  readonly timestampAt: "none" | "header" | "pair" | "pointer";
  readonly timestamp: string;
  readonly idHeader: string;
  readonly tolerance: string;
  readonly secretEncoding: Hmac["secret_encoding"];
  readonly handshake: Receiving["handshake"];
  readonly addresses: string;
  readonly eventId: LocationDraft;
  readonly eventIdDays: string;
  readonly eventType: LocationDraft;
  readonly multipart: boolean;
  readonly xml: boolean;
  readonly ndjson: boolean;
  readonly csv: boolean;
  readonly gzip: boolean;
  readonly maxKib: string;
  readonly headers: string;
  /** One name per line, because a name can contain spaces and commas. */
  readonly query: string;
  readonly filter: string;
  readonly template: string;
  readonly whenPaused: Receiving["when_paused"];
  readonly whenDisabled: Receiving["when_disabled"];
  readonly maxPerMinute: string;
  readonly origins: string;
  readonly honeypot: string;
  readonly answer: "json" | "redirect" | "text";
  readonly redirect: string;
  readonly text: string;
}

/**
 * Returns the settings as the form shows them. `receiving` is null for a trigger without settings.
 */
export function draftOf(promptPrefix: string, receiving: Receiving | null): Draft {
  const { verification, bodies, form, ...rest } = receiving ?? unset;
  const hmac = verification.kind === "hmac" ? verification : undefined;
  const { timestamp } = hmac ?? { timestamp: null };
  const answer = form.answer ?? {};
  return {
    promptPrefix,
    isDefault: receiving === null,
    preset: rest.preset,
    kind: verification.kind,
    header: "header" in verification ? verification.header : "",
    prefix: "prefix" in verification ? verification.prefix : "",
    algorithm: hmac?.algorithm ?? "sha256",
    encoding: hmac?.encoding ?? "hex",
    form: hmac?.form ?? "plain",
    signed: signedPattern(hmac?.signed ?? ["body"]),
    timestampAt:
      timestamp === null
        ? "none"
        : "header" in timestamp
          ? "header"
          : "pair" in timestamp
            ? "pair"
            : "pointer",
    timestamp: Object.values<string>(timestamp ?? {})[0] ?? "",
    idHeader: hmac?.id?.header ?? "",
    tolerance: String(hmac?.tolerance_seconds ?? defaultTolerance),
    secretEncoding: hmac?.secret_encoding ?? "text",
    handshake: rest.handshake,
    addresses: (rest.allowed_addresses ?? []).join("\n"),
    eventId: locationDraft(rest.event_id),
    eventIdDays: String(rest.event_id_days),
    eventType: locationDraft(rest.event_type),
    multipart: bodies.multipart,
    xml: bodies.xml,
    ndjson: bodies.ndjson,
    csv: bodies.csv,
    gzip: bodies.gzip,
    maxKib: String(bodies.max_bytes / 1_024),
    headers: rest.headers.join(", "),
    query: rest.query.join("\n"),
    filter: rest.filter ?? "",
    template: rest.template ?? "",
    whenPaused: rest.when_paused,
    whenDisabled: rest.when_disabled,
    maxPerMinute: rest.max_per_minute === null ? "" : String(rest.max_per_minute),
    origins: (form.origins ?? []).join("\n"),
    honeypot: form.honeypot ?? "",
    answer: "redirect" in answer ? "redirect" : "text" in answer ? "text" : "json",
    redirect: form.answer !== null && "redirect" in form.answer ? form.answer.redirect : "",
    text: form.answer !== null && "text" in form.answer ? form.answer.text : "",
  };
}

/** Returns the settings to send, not validated yet; null for a trigger without settings. */
export function receivingOf(draft: Draft): unknown {
  if (draft.isDefault) return null;
  return {
    preset: draft.preset,
    verification: verificationOf(draft),
    allowed_addresses: orNull(wordsOf(draft.addresses)),
    event_id: locationOf(draft.eventId),
    event_id_days:
      draft.eventId.at === "none"
        ? hiddenNumber(draft.eventIdDays, { max: 30, default: unset.event_id_days })
        : wholeNumberIn(draft.eventIdDays),
    event_type: locationOf(draft.eventType),
    handshake: draft.handshake,
    bodies: {
      multipart: draft.multipart,
      xml: draft.xml,
      ndjson: draft.ndjson,
      csv: draft.csv,
      gzip: draft.gzip,
      max_bytes: bytesIn(draft.maxKib),
    },
    headers: wordsOf(draft.headers),
    query: linesOf(draft.query),
    filter: draft.filter.trim() === "" ? null : draft.filter,
    template: draft.template === "" ? null : draft.template,
    when_paused: draft.whenPaused,
    when_disabled: draft.whenDisabled,
    max_per_minute: wholeNumberIn(draft.maxPerMinute),
    form: {
      origins: orNull(wordsOf(draft.origins)),
      honeypot: draft.honeypot.trim() || null,
      answer:
        draft.answer === "json"
          ? null
          : draft.answer === "redirect"
            ? { redirect: draft.redirect.trim() }
            : { text: draft.text },
    },
  };
}

/**
 * Returns the draft with the settings of a preset. Settings that no preset has are kept, and a
 * filter that is not that of the previous preset.
 */
export function withPreset(draft: Draft, preset: Preset, previous: Preset | undefined): Draft {
  const next = draftOf(draft.promptPrefix, preset.receiving);
  return {
    ...next,
    preset: preset.name,
    filter: draft.filter === (previous?.receiving.filter ?? "") ? next.filter : draft.filter,
    addresses: draft.addresses,
    template: draft.template,
    whenPaused: draft.whenPaused,
    whenDisabled: draft.whenDisabled,
    maxPerMinute: draft.maxPerMinute,
    origins: draft.origins,
    honeypot: draft.honeypot,
    answer: draft.answer,
    redirect: draft.redirect,
    text: draft.text,
  };
}

function verificationOf(draft: Draft): unknown {
  const { kind } = draft;
  if (kind === "header") return { kind, header: draft.header.trim(), prefix: draft.prefix };
  if (kind !== "hmac") return { kind };
  return {
    kind,
    header: draft.header.trim(),
    algorithm: draft.algorithm,
    encoding: draft.encoding,
    prefix: draft.prefix,
    form: draft.form,
    signed: signedParts(draft.signed),
    timestamp:
      draft.timestampAt === "none" ? null : { [draft.timestampAt]: draft.timestamp.trim() },
    id: draft.idHeader.trim() === "" ? null : { header: draft.idHeader.trim() },
    tolerance_seconds:
      draft.timestampAt === "none"
        ? hiddenNumber(draft.tolerance, { max: 86_400, default: defaultTolerance })
        : wholeNumberIn(draft.tolerance),
    secret_encoding: draft.secretEncoding,
  };
}

/** Writes signed parts as a pattern: `v0:{timestamp}:{body}`. */
export function signedPattern(parts: Hmac["signed"]): string {
  return parts.map((part) => (typeof part === "string" ? `{${part}}` : part.literal)).join("");
}

/** Reads signed parts from a pattern such as `v0:{timestamp}:{body}`. Other text is literal. */
export function signedParts(pattern: string): Hmac["signed"] {
  return pattern
    .split(/(\{(?:body|timestamp|id)\})/)
    .filter((part) => part !== "")
    .map((part) =>
      /^\{(?:body|timestamp|id)\}$/.test(part)
        ? (part.slice(1, -1) as "body" | "timestamp" | "id")
        : { literal: part },
    );
}

function locationDraft(location: ValueLocation | "cloudevents" | null): LocationDraft {
  if (location === null) return { at: "none", name: "" };
  if (location === "cloudevents") return { at: "cloudevents", name: "" };
  if ("header" in location) return { at: "header", name: location.header };
  if ("query" in location) return { at: "query", name: location.query };
  return { at: "pointer", name: location.pointer };
}

function locationOf({ at, name }: LocationDraft): unknown {
  if (at === "none") return null;
  return at === "cloudevents" ? at : { [at]: name.trim() };
}

/** Returns the lines that are not blank. Spaces at their beginning and end are kept. */
export function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line.trim() !== "");
}

const wordsOf = (text: string) => text.split(/[\s,]+/).filter((word) => word !== "");
const orNull = (words: readonly string[]) => (words.length === 0 ? null : words);

/**
 * Returns the number in a field that is not shown, and the default if it is not valid: an error at
 * a field that is not shown could not be corrected.
 */
function hiddenNumber(value: string, range: { readonly max: number; readonly default: number }) {
  const number = wholeNumberIn(value);
  const isValid = typeof number === "number" && number >= 1 && number <= range.max;
  return isValid ? number : range.default;
}

/** In seconds. */
const defaultTolerance = 300;

/**
 * Returns the bytes of a size in KiB; null if the text is blank. A text that is no number is
 * returned unchanged, so that the schema rejects it. Decimals are read only as `draftOf` writes
 * them, so that "1.000" is not read as 1: the API can set sizes that are no whole number of KiB.
 */
function bytesIn(kib: string): string | number | null {
  const number = wholeNumberIn(kib);
  if (typeof number === "number") return number * 1_024;
  const bytes = Number(kib) * 1_024;
  return Number.isInteger(bytes) && kib.trim() === String(bytes / 1_024) ? bytes : number;
}

/** The settings with which the form starts for a trigger that has none. */
const unset: Receiving = {
  preset: null,
  verification: { kind: "none" },
  allowed_addresses: null,
  event_id: null,
  event_id_days: 7,
  event_type: null,
  handshake: "none",
  bodies: {
    multipart: false,
    xml: false,
    ndjson: false,
    csv: false,
    gzip: false,
    max_bytes: 1_048_576,
  },
  headers: [],
  query: [],
  filter: null,
  template: null,
  when_paused: "refuse",
  when_disabled: "refuse",
  max_per_minute: null,
  form: { origins: null, honeypot: null, answer: null },
};

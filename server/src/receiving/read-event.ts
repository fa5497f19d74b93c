import { createHash } from "node:crypto";
import { isStorableText, type Receiving, type ValueLocation } from "@beckon/contract";
import { fieldOf } from "../base/json/index.ts";
import type { DecodedBody } from "./bodies/index.ts";
import { valueAt } from "./json-pointer.ts";
import { sourceAt } from "./json-source.ts";
import { headerOf, mediaTypeOf, queryOf, type RawRequest } from "./raw-request.ts";
import { isSecretHeader, withoutTriggerTokens } from "./shown-values.ts";

/**
 * The event's id and type. Each is null if the request does not contain it, or if the trigger's
 * settings do not say where it is.
 */
export interface ReceivedEvent {
  /** Stays the same when the sender repeats the event. At most 200 characters. */
  readonly id: string | null;
  /** At most 200 characters. */
  readonly type: string | null;
}

const maxLength = 200;

type EventSettings = Pick<Receiving, "event_id" | "event_type" | "verification">;
type EventBody = Pick<DecodedBody, "payload" | "text">;

/**
 * Returns the id and type of the event, from the locations in the settings. An id in a header with
 * a credential or signature is replaced by its hash, and such a type is null, because both are
 * stored and shown.
 */
export function readEvent(
  { event_id, event_type, verification }: EventSettings,
  request: RawRequest,
  body: EventBody,
): ReceivedEvent {
  const id =
    event_id === "cloudevents" ? cloudEventId(request, body) : locate(event_id, request, body);
  const type =
    event_type === "cloudevents"
      ? cloudEventAttribute("type", request, body)
      : locate(event_type, request, body);
  const isSecret = (location: Receiving["event_id"]) =>
    location !== null &&
    typeof location === "object" &&
    "header" in location &&
    isSecretHeader(verification, location.header);
  return {
    id: id === undefined ? null : isSecret(event_id) ? hashOf(id) : storableId(id),
    type: type === undefined || isSecret(event_type) ? null : storableType(type),
  };
}

/** Returns the value as text; undefined if it is absent, empty, or neither text nor number. */
function locate(
  location: ValueLocation | null,
  request: RawRequest,
  body: EventBody,
): string | undefined {
  if (location === null) return undefined;
  const value =
    "header" in location
      ? headerOf(request, location.header)
      : "query" in location
        ? queryOf(request).get(location.query)
        : bodyValue(body, location.pointer);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * Returns a number as text, and other values unchanged. Integers above 2^53 lose their last digits
 * when they are parsed, so two events could get the same id. All numbers except safe integers are
 * therefore taken from the JSON text.
 */
function bodyValue({ payload, text }: EventBody, pointer: string): unknown {
  const value = valueAt(payload, pointer);
  if (typeof value !== "number") return value;
  if (Number.isSafeInteger(value)) return String(value);
  return sourceAt(text, pointer);
}

/**
 * Returns `source` and `id`, which together identify an event (CloudEvents 1.0, section 3.1),
 * separated by a space. Spaces in the source are encoded, so that the result is unambiguous.
 */
function cloudEventId(request: RawRequest, body: EventBody): string | undefined {
  const id = cloudEventAttribute("id", request, body);
  const source = cloudEventAttribute("source", request, body);
  if (id === undefined || source === undefined) return undefined;
  return `${source.replaceAll(" ", "%20")} ${id}`;
}

/**
 * Returns an attribute of a CloudEvent: a field of the body in structured mode, a header in binary
 * mode. Undefined for a batch, which has several events.
 * @see https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/bindings/http-protocol-binding.md
 */
function cloudEventAttribute(
  name: "id" | "source" | "type",
  request: RawRequest,
  { payload }: EventBody,
): string | undefined {
  const isStructured = mediaTypeOf(headerOf(request, "content-type")).startsWith(
    "application/cloudevents",
  );
  const value = isStructured
    ? fieldOf(payload, name)
    : percentDecoded(headerOf(request, `ce-${name}`));
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Header values of CloudEvents are percent-encoded UTF-8 (section 3.1.3.2 of the binding). */
function percentDecoded(value: string | undefined): string | undefined {
  try {
    return value && decodeURIComponent(value);
  } catch {
    return value;
  }
}

/**
 * Returns the id without tokens of triggers. An id that is too long or cannot be stored is replaced
 * by its hash, so that different ids stay different.
 */
function storableId(id: string): string {
  if (id.length > maxLength || !isStorableText(id)) return hashOf(id);
  return withoutTriggerTokens(id);
}

function hashOf(id: string): string {
  return `sha256:${createHash("sha256").update(id, "utf16le").digest("hex")}`;
}

function storableType(type: string): string {
  const text = withoutTriggerTokens(type).replaceAll("\u0000", "");
  return text.slice(0, maxLength).toWellFormed();
}

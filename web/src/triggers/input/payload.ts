import type { ListedRun } from "@beckon/client";
import { firstLine, formatBytes, shellArgument } from "../../format/index.ts";

/** The types of payloads, which differ in their Content-Type. */
export type PayloadType = "json" | "text" | "form";

/** The types, in the order in which they are offered. */
export const payloadTypes = [
  { value: "json", label: "JSON", contentType: "application/json" },
  { value: "text", label: "Text", contentType: "text/plain" },
  { value: "form", label: "Form", contentType: "application/x-www-form-urlencoded" },
] as const;

/** The payloads with which the editor starts. */
export const samplePayloads: Readonly<Record<PayloadType, string>> = {
  json: '{\n  "order": 4711,\n  "paid": true\n}',
  text: "Order 4711 was paid.",
  form: "order=4711&paid=true",
};

/** Returns the Content-Type header of a payload. */
export function contentTypeOf(type: PayloadType): string {
  return payloadTypes.find(({ value }) => value === type)?.contentType ?? "text/plain";
}

/** Returns the type that a search parameter names; `json` if it names none. */
export function payloadTypeOf(text: string | undefined): PayloadType {
  return payloadTypes.find(({ value }) => value === text)?.value ?? "json";
}

/** Returns what is wrong with a payload and what to do; undefined if it can be sent. */
export function payloadProblem(
  type: PayloadType,
  text: string,
  promptPrefix: string,
): string | undefined {
  if (text === "")
    return promptPrefix === "" ? "Type a payload: this trigger has no prompt prefix." : undefined;
  if (type !== "json" || isJson(text)) return undefined;
  return "This is not JSON. Correct it, or send it as text.";
}

/**
 * Returns the input of the run that a payload starts: the prefix, a blank line and the payload. If
 * the prefix or the payload is empty, returns only the other one.
 */
export function inputOf(promptPrefix: string, type: PayloadType, text: string): string {
  const payload = type === "form" ? formAsJson(text) : text;
  if (promptPrefix === "") return payload;
  return payload === "" ? promptPrefix : `${promptPrefix}\n\n${payload}`;
}

/** Converts a URL-encoded form to JSON, as the server does. Other text stays as it is. */
function formAsJson(text: string): string {
  if (!text.includes("=") || isJson(text)) return text;
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const earlier = fields.get(name);
    fields.set(name, earlier === undefined ? value : [earlier, value].flat());
  }
  return JSON.stringify(Object.fromEntries(fields));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns the command that sends a payload. It reads the secret URL from `BECKON_TRIGGER_URL`. */
export function curlOf(type: PayloadType, text: string): string {
  return [
    'curl -sS --fail-with-body "$BECKON_TRIGGER_URL"',
    `-H "content-type: ${contentTypeOf(type)}"`,
    `--data-raw ${shellArgument(text)}`,
  ].join(" \\\n  ");
}

/**
 * Returns the beginning of the payload in the input of a run. Line breaks are replaced, because the
 * first line of formatted JSON is only a brace. Lists of runs contain truncated inputs: if such an
 * input ends within the prompt prefix, returns the size of the payload.
 */
export function payloadLineOf(
  { input, input_bytes }: Pick<ListedRun, "input" | "input_bytes">,
  promptPrefix: string,
): string {
  const before = promptPrefix === "" ? "" : `${promptPrefix}\n\n`;
  if (input.startsWith(before)) return onOneLine(input.slice(before.length));
  const isCut = input_bytes !== undefined && before.startsWith(input);
  if (!isCut) return onOneLine(input);
  const bytes = Math.max(0, input_bytes - new TextEncoder().encode(before).length);
  return `Payload of ${formatBytes(bytes)}`;
}

const onOneLine = (text: string) => firstLine(text.replaceAll(/\s+/g, " "));

import { storableJson } from "../storable.ts";
import { ToolFailure } from "../tool.ts";

/** Bytes of JSON that the model is shown of one result. More would crowd the conversation out of its window. */
const limit = 256 * 1024;

/**
 * A tool's result as the JSON value that is journaled and shown to the model. A larger one becomes the beginning of its
 * text with a note, since a cut JSON value is none.
 *
 * @throws {ToolFailure} it is not JSON: a cycle, a BigInt, nesting without end.
 */
export function fitResult(value: unknown): unknown {
  const json = toJson(value);
  if (Buffer.byteLength(json) <= limit) return storableJson(JSON.parse(json));
  const text = typeof value === "string" ? value : json;
  return storableJson(
    `${firstBytes(text, limit)}\n[cut: the result has ${Buffer.byteLength(text)} bytes, these are the first ${limit}]`,
  );
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    throw new ToolFailure("The tool's result is not JSON.");
  }
}

/** At most `bytes` of the text's UTF-8 form, without a broken character at the end. */
function firstBytes(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}

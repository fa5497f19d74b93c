import { storableJson } from "../storable.ts";
import { ToolFailure } from "../tool.ts";

/** Maximum bytes of JSON of one result. Larger results would fill the model's context window. */
const maxResultBytes = 256 * 1024;

/**
 * Returns a tool's result as the JSON value that is journaled and sent to the model. Larger results
 * are truncated to text, with a note: truncated JSON is invalid.
 *
 * @throws {ToolFailure} the result is not JSON: a cycle, a BigInt, or nested too deeply.
 */
export function fitResult(value: unknown): unknown {
  const json = toJson(value);
  if (Buffer.byteLength(json) <= maxResultBytes) return storableJson(JSON.parse(json));
  const text = typeof value === "string" ? value : json;
  return storableJson(
    `${firstBytes(text, maxResultBytes)}\n[truncated: the result has ${Buffer.byteLength(text)} bytes; these are the first ${maxResultBytes}]`,
  );
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    throw new ToolFailure("The tool's result is not JSON.");
  }
}

/** Returns at most `bytes` of the text's UTF-8, without a partial character at the end. */
function firstBytes(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}

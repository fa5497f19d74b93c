import { isNestedDeeper } from "../../base/json/index.ts";
import { storableJson } from "../storable.ts";
import { ToolFailure } from "../tool.ts";

/** Maximum bytes of one result as JSON. Larger results would fill the model's context window. */
const maxResultBytes = 256 * 1024;

/**
 * Maximum levels of lists and objects in arguments and results of tools. The libraries of providers
 * are recursive, and overflow the call stack at some thousands of levels.
 */
export const maxLevels = 500;

/**
 * Returns a tool's result as the JSON value that is stored in the journal and sent to the model. A
 * result that is too large becomes a text: the beginning of the result, with a note. It does not
 * stay a JSON value, because truncated JSON is invalid. A result with more than `maxLevels` levels
 * becomes the text of its JSON.
 *
 * @throws {ToolFailure} the result cannot be written as JSON: it contains a cycle or a BigInt, or
 *   is nested so deeply that `JSON.stringify` overflows the call stack.
 */
export function fitResult(value: unknown): unknown {
  const json = toJson(value);
  if (Buffer.byteLength(json) <= maxResultBytes)
    return storableJson(isNestedDeeper(json, maxLevels) ? json : JSON.parse(json));
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

/**
 * Returns the beginning of the text: at most `bytes` bytes of its UTF-8, without a partial
 * character at the end.
 */
function firstBytes(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}

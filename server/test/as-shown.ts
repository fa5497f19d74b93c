import { expect } from "vitest";

/**
 * Returns a matcher for an example of the documentation. A value matches if it equals the example;
 * `…` in a text of the example stands for any text.
 */
export function asShown(example: unknown): unknown {
  if (typeof example === "string" && example.includes("…")) {
    const pieces = example.split("…").map((piece) => piece.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    return expect.stringMatching(new RegExp(`^${pieces.join("[\\s\\S]*")}$`));
  }
  if (Array.isArray(example)) return example.map(asShown);
  if (typeof example !== "object" || example === null) return example;
  return Object.fromEntries(Object.entries(example).map(([name, value]) => [name, asShown(value)]));
}

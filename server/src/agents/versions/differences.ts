import { isDeepStrictEqual } from "node:util";

/** A place that is not the same in two values. What is not there at all is absent, not undefined. */
export interface Difference {
  /** JSON Pointer (RFC 6901), for example `/limits/max_steps`. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/**
 * The smallest places in which two JSON values differ, in the order in which their members stand. Lists are compared by position: what is
 * taken out of the middle of one makes everything behind it another.
 */
export function differences(before: unknown, after: unknown, path = ""): Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  const [was, is] = [membersOf(before), membersOf(after)];
  if (was === undefined || is === undefined || Array.isArray(before) !== Array.isArray(after))
    return [{ path, before, after }];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((name): Difference[] => {
    const below = `${path}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (!was.has(name)) return [{ path: below, after: is.get(name) }];
    if (!is.has(name)) return [{ path: below, before: was.get(name) }];
    return differences(was.get(name), is.get(name), below);
  });
}

function membersOf(value: unknown): Map<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? new Map(Object.entries(value)) : undefined;
}

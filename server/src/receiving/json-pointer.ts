import { isJsonObject } from "../base/json/index.ts";

/**
 * Returns the value at a JSON pointer (RFC 6901); undefined if there is none. Properties that an
 * object inherits, such as `constructor`, are not read.
 */
export function valueAt(root: unknown, pointer: string): unknown {
  let value = root;
  for (const name of tokensOf(pointer)) {
    if (Array.isArray(value)) {
      if (!/^(?:0|[1-9]\d*)$/.test(name)) return undefined;
      value = value[Number(name)];
    } else if (isJsonObject(value) && Object.hasOwn(value, name)) {
      value = value[name];
    } else {
      return undefined;
    }
  }
  return value;
}

/** Returns the unescaped reference tokens of a JSON pointer (RFC 6901): names and indexes. */
export function tokensOf(pointer: string): string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

import { isDeepStrictEqual } from "node:util";
import { UsageError } from "../terminal.ts";
import { asStored } from "./as-stored.ts";
import { isObject } from "./read-document.ts";

/**
 * Default values of fields of tools, of their operations, and of `receiving` of triggers. Defaults
 * that are empty, such as `false` and `[]`, are not listed, because `isEmpty` recognizes them.
 */
const defaults: Readonly<Record<string, unknown>> = {
  timeout_seconds: 30,
  max_response_bytes: 65_536,
  max_calls_per_run: 100,
  parameters: { type: "object", properties: {} },
  body_type: "json",
  verification: { kind: "none" },
  form: "plain",
  tolerance_seconds: 300,
  secret_encoding: "text",
  event_id_days: 7,
  handshake: "none",
  bodies: {},
  max_bytes: 1_048_576,
  when_paused: "refuse",
  when_disabled: "refuse",
};

/** Fields that the server stores unchanged, without adding defaults inside them. */
const storedAsGiven = new Set(["metadata", "parameters", "body"]);
/**
 * Fields of a tool whose value is an object with names of the called API as keys, for example names
 * of headers. A key can be equal to the name of a field of the tool, such as `body`, but the rules
 * for that field, such as its default, do not apply to the key.
 */
const chosenKeys = new Set(["headers", "query"]);

/**
 * Returns whether a field of an object in the file is the same as that of the exported object. A
 * field that the file omits counts as its default value.
 */
export function isSameField(
  field: string,
  inFile: Readonly<Record<string, unknown>>,
  exported: Readonly<Record<string, unknown>>,
): boolean {
  if (!(field in inFile)) return isDefault(field, exported[field], inFile);
  if (storedAsGiven.has(field)) return isDeepStrictEqual(inFile[field], exported[field]);
  return isSame(asStored(field, inFile[field]), exported[field], chosenKeys.has(field));
}

/**
 * Returns whether a value of the file equals the exported one. Fields that the file omits match if
 * the exported value is their default.
 * @param keysAreChosen whether the value is that of a field in `chosenKeys`, whose keys have no
 *   defaults; default: false
 */
export function isSame(inFile: unknown, exported: unknown, keysAreChosen = false): boolean {
  if (Array.isArray(inFile) && Array.isArray(exported)) {
    return (
      inFile.length === exported.length &&
      inFile.every((item, index) => isSame(item, exported[index]))
    );
  }
  if (isObject(inFile) && isObject(exported)) {
    return [...new Set([...Object.keys(inFile), ...Object.keys(exported)])].every((field) =>
      keysAreChosen
        ? field in inFile && isSame(inFile[field], exported[field])
        : isSameField(field, inFile, exported),
    );
  }
  return Object.is(inFile, exported);
}

/** Like `isSame`, for objects that an update merges: fields that the file omits are ignored. */
export function isMerged(inFile: unknown, exported: unknown): boolean {
  if (!isObject(inFile) || !isObject(exported)) return isSame(inFile, exported);
  return Object.entries(inFile).every(([key, value]) => isSame(value, exported[key] ?? null));
}

function isDefault(
  field: string,
  value: unknown,
  { method }: Readonly<Record<string, unknown>>,
): boolean {
  // The default of `safe_to_repeat` is true for the methods GET and HEAD, else false.
  if (field === "safe_to_repeat") return value === (method === "GET" || method === "HEAD");
  // `isEmpty` would ignore headers and parameters whose exported value is `{"secret": null}` or "".
  // The tool sends these too, so a file without them is a change.
  if (chosenKeys.has(field) && isObject(value)) return Object.keys(value).length === 0;
  return isEmpty(value) || (field in defaults && isSame(defaults[field], value));
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isObject(value)) return Object.values(value).every(isEmpty);
  return [undefined, null, false, ""].includes(value as never);
}

/**
 * Returns the value of the file, in which each `{"secret": null}` is replaced by a reference to the
 * stored secret. An item of a list gets the secret of the stored item with the same name.
 * @param current the same field of the agent, as the API returns it
 * @param path location of the value in the agent, for errors
 * @param keysAreChosen whether the value is that of a field in `chosenKeys`; default: false
 * @throws UsageError if a secret is neither in the file nor stored
 */
export function withStoredSecrets(
  inFile: unknown,
  current: unknown,
  path: string,
  keysAreChosen = false,
): unknown {
  if (Array.isArray(inFile)) {
    return inFile.map((item, index) => {
      const before = Array.isArray(current)
        ? (isObject(item) && current.find((each) => isObject(each) && each.name === item.name)) ||
          undefined
        : undefined;
      return withStoredSecrets(item, before, `${path}.${index}`);
    });
  }
  if (!isObject(inFile)) return inFile;
  if ("secret" in inFile && inFile.secret === null) {
    if (!isObject(current) || typeof current.secret_id !== "string") {
      throw new UsageError(
        `The secret at ${path} is neither in the file nor stored. Write it into the file in ` +
          "place of null.",
      );
    }
    const { secret: _, ...rest } = inFile;
    return { ...rest, secret_id: current.secret_id };
  }
  const before = isObject(current) ? current : {};
  return Object.fromEntries(
    Object.entries(inFile).map(([key, value]) => [
      key,
      storedAsGiven.has(key) && !keysAreChosen
        ? value
        : withStoredSecrets(value, before[key], `${path}.${key}`, chosenKeys.has(key)),
    ]),
  );
}

import { isDeepStrictEqual } from "node:util";
import { agentsDocument, createTriggerBody } from "@beckon/contract";
import { UsageError } from "../terminal.ts";
import { isObject } from "./read-document.ts";

type Schemas = Readonly<
  Record<string, { safeParse(value: unknown): { success: boolean; data?: unknown } }>
>;
const agentFields: Schemas = agentsDocument.shape.agents.element.shape;
const triggerFields: Schemas = createTriggerBody.shape;

/** Returns whether a field of an agent in the file is the same as that of the exported agent. */
export function isSameInAgent(field: string, inFile: unknown, exported: unknown): boolean {
  return isSame(agentFields, field, inFile, exported);
}

/** Returns whether a field of a trigger in the file is the same as that of the stored trigger. */
export function isSameInTrigger(field: string, inFile: unknown, stored: unknown): boolean {
  return isSame(triggerFields, field, inFile, stored);
}

/**
 * Compares values as the contract parses them: with defaults in place of what they omit, and with
 * names of headers and hosts as the server stores them. A value that the contract rejects is
 * compared as it is. So it differs from a valid one, and the server gets it and explains the error.
 */
function isSame(schemas: Schemas, field: string, inFile: unknown, stored: unknown): boolean {
  // The file can have any names, so also those of properties of all objects, such as `constructor`.
  const schema = Object.hasOwn(schemas, field) ? schemas[field] : undefined;
  const parsed = (value: unknown) => {
    const result = schema?.safeParse(value);
    return result?.success ? result.data : value;
  };
  return isDeepStrictEqual(parsed(inFile), parsed(stored));
}

/**
 * Returns the tools of the file, in which each `{"secret": null}` of a header or query parameter is
 * replaced by a reference to the stored secret. A tool or operation gets the secrets of the stored
 * one with the same name.
 * @param current the same tools as the API returns them
 * @param path location of the tools in the agent, for errors
 * @throws UsageError if a secret is neither in the file nor stored
 */
export function withStoredSecrets(inFile: unknown, current: unknown, path: string): unknown {
  if (!Array.isArray(inFile)) return inFile;
  const stored: readonly unknown[] = Array.isArray(current) ? current : [];
  return inFile.map((item, index) => {
    if (!isObject(item)) return item;
    const before = stored.filter(isObject).find(({ name }) => name === item.name);
    return mapFields(item, (value, field) => {
      const address = `${path}.${index}.${field}`;
      switch (field) {
        case "operations":
          return withStoredSecrets(value, before?.operations, address);
        case "headers":
        case "query":
          return withSecretsOf(before?.[field], value, address);
        default:
          return value;
      }
    });
  });
}

/** Like `withStoredSecrets`, for the headers or query parameters of one tool or operation. */
function withSecretsOf(current: unknown, inFile: unknown, path: string): unknown {
  if (!isObject(inFile)) return inFile;
  return mapFields(inFile, (value, name) => {
    if (!isObject(value) || value.secret !== null) return value;
    const stored = isObject(current) ? current[name] : undefined;
    if (!isObject(stored) || typeof stored.secret_id !== "string") {
      throw new UsageError(
        `The secret at ${path}.${name} is neither in the file nor stored. Write it into the file ` +
          "in place of null.",
      );
    }
    const { secret: _, ...rest } = value;
    return { ...rest, secret_id: stored.secret_id };
  });
}

function mapFields(
  given: Readonly<Record<string, unknown>>,
  change: (value: unknown, field: string) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(given).map(([field, value]) => [field, change(value, field)]),
  );
}

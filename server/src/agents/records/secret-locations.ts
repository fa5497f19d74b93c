import {
  type GivenValue,
  type HttpToolBody,
  type HttpToolGrant,
  parseUrlTemplate,
  type ToolGrant,
  type ValueInDocument,
} from "@beckon/contract";

/** A header or query value as a request gives it, as it is stored, or as an export contains it. */
export type AnyValue = GivenValue | ValueInDocument;

/** The location of a header or query value, possibly a secret, in an agent's tools. */
export interface SecretLocation {
  /**
   * Identifies the tool, the operation, and the name of the header or query parameter. Does not
   * depend on the order of tools and operations, or on upper and lower case in header names.
   */
  readonly key: string;
  /** The location as messages show it, for example `tools.0.headers.authorization`. */
  readonly path: string;
  /** The origins to which requests with this value are sent. */
  readonly origins: readonly string[];
}

/** A header or query value of an agent's tools, and its location. */
interface LocatedValue<Value extends AnyValue> {
  readonly value: Value;
  readonly location: SecretLocation;
}

/** Returns every header and query value of the tools. */
export function valuesOf<Value extends AnyValue>(
  tools: readonly ToolOf<Value>[],
): LocatedValue<Value>[] {
  const values: LocatedValue<Value>[] = [];
  mapValues(tools, (value: Value, location) => {
    values.push({ value, location });
    return value;
  });
  return values;
}

/** Returns the tools with every header and query value replaced by the result of `change`. */
export function mapValues<From extends AnyValue, To extends AnyValue>(
  tools: readonly ToolOf<From>[],
  change: (value: From, location: SecretLocation) => To,
): ToolOf<To>[] {
  return tools.map((tool, index) =>
    tool.type === "http" ? mapValuesOfTool(tool, `tools.${index}`, change) : tool,
  );
}

/** @param path of the tool, for `SecretLocation.path` */
function mapValuesOfTool<From extends AnyValue, To extends AnyValue>(
  grant: HttpToolOf<From>,
  path: string,
  change: (value: From, location: SecretLocation) => To,
): HttpToolOf<To> {
  const changedValues = (
    holder: Values<From>,
    pathOfHolder: string,
    operation: string | undefined,
    origins: readonly string[],
  ): Values<To> => {
    const all = (where: "headers" | "query") =>
      Object.fromEntries(
        Object.entries(holder[where]).map(([name, value]) => {
          const key = JSON.stringify([
            grant.name,
            where,
            operation,
            where === "headers" ? name.toLowerCase() : name,
          ]);
          return [name, change(value, { key, path: `${pathOfHolder}.${where}.${name}`, origins })];
        }),
      );
    return { headers: all("headers"), query: all("query") };
  };
  return {
    ...grant,
    ...changedValues(grant, path, undefined, [...new Set(grant.operations.flatMap(originsOf))]),
    operations: grant.operations.map((operation, position) => ({
      ...operation,
      ...changedValues(
        operation,
        `${path}.operations.${position}`,
        operation.name,
        originsOf(operation),
      ),
    })),
  };
}

interface Values<Value> {
  headers: Record<string, Value>;
  query: Record<string, Value>;
}
/** A tool whose header and query values have the type `Value`. */
type ToolOf<Value> = Exclude<ToolGrant, { type: "http" }> | HttpToolOf<Value>;
type HttpToolOf<Value> = Omit<HttpToolBody, "headers" | "query" | "operations"> &
  Values<Value> & { operations: (Operation & Values<Value>)[] };
type Operation = Omit<HttpToolGrant["operations"][number], "headers" | "query">;

function originsOf({ url }: { url: string }): string[] {
  const parsed = parseUrlTemplate(url);
  return typeof parsed === "string" ? [] : [parsed.origin];
}

/**
 * Returns the tools as responses show them: each secret as its id and last four characters, which
 * are null if the secret was deleted.
 * @param last4 The last four characters of the agent's secrets, by id.
 */
export function showSecrets(
  tools: readonly ToolGrant[],
  last4: Readonly<Record<string, string>>,
): ToolGrant[] {
  return mapValues(tools, (value) =>
    typeof value === "string" ? value : { ...value, secret_last4: last4[value.secret_id] ?? null },
  );
}

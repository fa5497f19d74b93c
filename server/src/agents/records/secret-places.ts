import {
  type GivenValue,
  type HttpToolBody,
  type HttpToolGrant,
  parseUrlTemplate,
  type ToolGrant,
  type ValueInDocument,
} from "@beckon/contract";

/** A value as it is given, kept, or stands in a document. */
export type AnyValue = GivenValue | ValueInDocument;

/** Where in an agent's tools a value stands that may be a secret. */
export interface SecretPlace {
  /** The same as long as tool, operation and name are; header names in lower case. */
  readonly key: string;
  /** For messages, for example `tools.0.headers.authorization`. */
  readonly path: string;
  /** Where requests with this value go. */
  readonly origins: readonly string[];
}

/** The tool with every value of its headers and queries replaced by what `change` makes of it. */
export function mapValues<From extends AnyValue, To extends AnyValue>(
  grant: HttpToolOf<From>,
  index: number,
  change: (value: From, place: SecretPlace) => To,
): HttpToolOf<To> {
  const changed = (
    holder: Values<From>,
    path: string,
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
          return [name, change(value, { key, path: `${path}.${where}.${name}`, origins })];
        }),
      );
    return { headers: all("headers"), query: all("query") };
  };
  const path = `tools.${index}`;
  return {
    ...grant,
    ...changed(grant, path, undefined, [...new Set(grant.operations.flatMap(originsOf))]),
    operations: grant.operations.map((operation, position) => ({
      ...operation,
      ...changed(operation, `${path}.operations.${position}`, operation.name, originsOf(operation)),
    })),
  };
}

interface Values<Value> {
  headers: Record<string, Value>;
  query: Record<string, Value>;
}
type HttpToolOf<Value> = Omit<HttpToolBody, "headers" | "query" | "operations"> &
  Values<Value> & { operations: (Operation & Values<Value>)[] };
type Operation = Omit<HttpToolGrant["operations"][number], "headers" | "query">;

function originsOf({ url }: { url: string }): string[] {
  const parsed = parseUrlTemplate(url);
  return typeof parsed === "string" ? [] : [parsed.origin];
}

/** The tools as they are shown: of each secret the last four characters, null for one that is gone. */
export function showSecrets(
  tools: readonly ToolGrant[],
  last4: Readonly<Record<string, string>>,
): ToolGrant[] {
  return tools.map((grant, index) =>
    grant.type !== "http"
      ? grant
      : mapValues(grant, index, (value) => {
          if (typeof value === "string") return value;
          return { ...value, secret_last4: last4[value.secret_id] ?? null };
        }),
  );
}

import { withLineFeeds } from "../../../format/index.ts";
import type { HttpTool } from "../fields.ts";

type Value = NonNullable<HttpTool["headers"]>[string];
type Operation = HttpTool["operations"][number];

/**
 * A header or a query parameter in the form. For a stored secret, the row has its id; for a new
 * one, its value.
 */
export interface ValueRow {
  readonly name: string;
  /** The text, or the new secret. Empty for a secret that stays as it is. */
  readonly value: string;
  readonly isSecret: boolean;
  /** Text that is sent before the secret, for example `Bearer `. It is not secret. */
  readonly prefix: string;
  readonly secretId: string;
  /**
   * Last four characters of the stored secret; null if it was deleted and must be entered again;
   * empty if they are not known or no secret is stored.
   */
  readonly last4: string | null;
}

/** The values of the form for a function of the tool. Schemas are JSON text. */
export interface OperationValues {
  readonly name: string;
  readonly description: string;
  readonly method: Operation["method"];
  readonly url: string;
  readonly query: readonly ValueRow[];
  readonly headers: readonly ValueRow[];
  readonly parameters: string;
  /** Schema of the body; empty for a function without a body. */
  readonly body: string;
  readonly bodyType: NonNullable<Operation["body_type"]>;
  readonly safeToRepeat: boolean;
  readonly idempotencyHeader: string;
}

/** The values of the form for an HTTP tool. */
export interface ToolValues {
  readonly name: string;
  readonly description: string;
  /** Hosts, separated by commas; empty for the hosts in the URLs of the functions. */
  readonly allowedHosts: string;
  readonly headers: readonly ValueRow[];
  readonly query: readonly ValueRow[];
  readonly operations: readonly OperationValues[];
  readonly timeoutSeconds: number | null;
  readonly maxResponseBytes: number | null;
  readonly maxCallsPerRun: number | null;
}

/** The names of the form fields that contain rows of headers or query parameters. */
export type RowsName =
  | "headers"
  | "query"
  | `operations.${number}.headers`
  | `operations.${number}.query`;

/** The values of a new row. */
export const emptyRow: ValueRow = {
  name: "",
  value: "",
  isSecret: false,
  prefix: "",
  secretId: "",
  last4: "",
};

/** The form's initial values for a new operation, which the dashboard calls a function. */
export const emptyOperation: OperationValues = {
  name: "",
  description: "",
  method: "GET",
  url: "",
  query: [],
  headers: [],
  parameters: "",
  body: "",
  bodyType: "json",
  safeToRepeat: true,
  idempotencyHeader: "",
};

/** The values of a new tool. */
export const emptyTool: ToolValues = {
  name: "",
  description: "",
  allowedHosts: "",
  headers: [],
  query: [],
  operations: [emptyOperation],
  timeoutSeconds: 30,
  maxResponseBytes: 65_536,
  maxCallsPerRun: 100,
};

/** Returns the values with which the form is filled in. */
export function valuesOfTool(tool: HttpTool): ToolValues {
  return {
    name: tool.name,
    description: withLineFeeds(tool.description ?? ""),
    allowedHosts: tool.allowed_hosts.join(", "),
    headers: rowsOf(tool.headers),
    query: rowsOf(tool.query),
    operations: tool.operations.map(valuesOfOperation),
    timeoutSeconds: tool.timeout_seconds ?? emptyTool.timeoutSeconds,
    maxResponseBytes: tool.max_response_bytes ?? emptyTool.maxResponseBytes,
    maxCallsPerRun: tool.max_calls_per_run ?? emptyTool.maxCallsPerRun,
  };
}

function valuesOfOperation(operation: Operation): OperationValues {
  const { name, description, method, url, query, headers, parameters, body } = operation;
  const isEmpty = Object.keys((parameters?.properties as object | undefined) ?? {}).length === 0;
  return {
    name,
    description: withLineFeeds(description),
    method,
    url,
    query: rowsOf(query),
    headers: rowsOf(headers),
    parameters: parameters === undefined || isEmpty ? "" : JSON.stringify(parameters, null, 2),
    body: body === undefined ? "" : JSON.stringify(body, null, 2),
    bodyType: operation.body_type ?? "json",
    safeToRepeat: operation.safe_to_repeat ?? isReading(method),
    idempotencyHeader: operation.idempotency_header ?? "",
  };
}

function rowsOf(values: HttpTool["headers"] = {}): ValueRow[] {
  return Object.entries(values).map(([name, value]) => {
    if (typeof value === "string") return { ...emptyRow, name, value };
    const row = { ...emptyRow, name, isSecret: true, prefix: value.prefix ?? "" };
    return "secret" in value
      ? { ...row, value: value.secret }
      : {
          ...row,
          secretId: value.secret_id,
          last4: value.secret_last4 === undefined ? "" : value.secret_last4,
        };
  });
}

/**
 * Returns the tool in the form of the API. A schema that is not JSON becomes null, which the API
 * rejects.
 */
export function toolOf(values: ToolValues): HttpTool {
  const typedHosts = values.allowedHosts.split(/[\s,]+/).filter((host) => host !== "");
  const hosts = typedHosts.length > 0 ? typedHosts : hostsOf(values.operations);
  return {
    type: "http",
    name: values.name,
    description: values.description,
    allowed_hosts: hosts,
    headers: valuesOfRows(values.headers),
    query: valuesOfRows(values.query),
    operations: values.operations.map(operationOf),
    // An empty field has the value null, which these types do not allow. The casts are safe,
    // because `toolResolver` rejects null.
    timeout_seconds: values.timeoutSeconds as number,
    max_response_bytes: values.maxResponseBytes as number,
    max_calls_per_run: values.maxCallsPerRun as number,
  };
}

function operationOf(values: OperationValues): Operation {
  const { name, description, method, url, query, headers } = values;
  const schema = schemaIn(values.parameters);
  const parameters = schema === undefined ? { type: "object", properties: {} } : schema;
  return {
    name,
    description,
    method,
    url,
    query: valuesOfRows(query),
    headers: valuesOfRows(headers),
    parameters: parameters as NonNullable<Operation["parameters"]>,
    // For a method that only reads, the form hides the field for the body. The field can still have
    // a text, which is not sent.
    ...(values.body.trim() === "" || isReading(method)
      ? {}
      : {
          body: schemaIn(values.body),
          ...(values.bodyType === "json" ? {} : { body_type: values.bodyType }),
        }),
    safe_to_repeat: values.safeToRepeat,
    ...(values.idempotencyHeader === "" ? {} : { idempotency_header: values.idempotencyHeader }),
  };
}

function valuesOfRows(rows: readonly ValueRow[]): Record<string, Value> {
  return Object.fromEntries(rows.map((row) => [row.name, valueOfRow(row)]));
}

function valueOfRow({ value, isSecret, prefix, secretId, last4 }: ValueRow): Value {
  if (!isSecret) return value;
  const before = prefix === "" ? {} : { prefix };
  return secretId === ""
    ? { secret: value, ...before }
    : { secret_id: secretId, secret_last4: last4, ...before };
}

function hostsOf(operations: readonly OperationValues[]): string[] {
  const hosts = operations.map(({ url }) => /^https?:\/\/([^/?#{}@\s]+)/.exec(url)?.[1]);
  return [...new Set(hosts.filter((host) => host !== undefined))];
}

/** Returns the schema in a field: undefined if it is empty, null if it is not JSON. */
function schemaIn(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns whether calls of this method only read, so that repeating them is safe by default. */
export function isReading(method: Operation["method"]): boolean {
  return method === "GET" || method === "HEAD";
}

/** Returns the texts of a function in which placeholders can be. A secret has none. */
export function templatesOf({
  url,
  query,
  headers,
}: Pick<OperationValues, "url" | "query" | "headers">): string[] {
  const texts = [...query, ...headers].filter(({ isSecret }) => !isSecret);
  return [url, ...texts.map(({ value }) => value)];
}

/**
 * Returns the schema of the parameters, as JSON. Each placeholder that it lacks is added as a
 * required text parameter. A text that is no JSON object, or has properties that are none, is
 * returned unchanged.
 * @param templates texts with placeholders such as `{id}`: the URL, query parameters and headers
 */
export function withPlaceholders(parameters: string, templates: readonly string[]): string {
  const schema =
    parameters.trim() === "" ? { type: "object", properties: {} } : schemaIn(parameters);
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return parameters;
  const {
    properties = {},
    required = [],
    ...rest
  }: { readonly properties?: unknown; readonly required?: unknown } = schema;
  if (typeof properties !== "object" || properties === null || !Array.isArray(required))
    return parameters;
  const names = templates.flatMap((template) =>
    // `{{` stands for a literal brace and begins no placeholder.
    [...template.replaceAll("{{", "").matchAll(/\{([a-zA-Z0-9_.-]{1,64})\}/g)].map(
      ([, name = ""]) => name,
    ),
  );
  const missing = [...new Set(names)].filter((name) => !Object.hasOwn(properties, name));
  if (missing.length === 0) return parameters;
  const added = Object.fromEntries(missing.map((name) => [name, { type: "string" }]));
  return JSON.stringify(
    { ...rest, properties: { ...properties, ...added }, required: [...required, ...missing] },
    null,
    2,
  );
}

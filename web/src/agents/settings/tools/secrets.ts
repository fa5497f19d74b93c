import type { HttpTool, Tool } from "../fields.ts";

type Values = NonNullable<HttpTool["headers"]>;
type Value = Values[string];

/** Why no draft run can be started while a tool has a new secret. */
export const newSecretReason =
  "Save the settings first: a secret that is not saved cannot be used.";

/**
 * Returns the tool with another text instead of each new secret. New secrets must neither be stored
 * in the browser nor shown.
 */
export function withoutNewSecrets(tool: Tool, secret = ""): Tool {
  return tool.type === "http"
    ? mapValues(tool, (value) => (isNewSecret(value) ? { ...value, secret } : value))
    : tool;
}

/** Returns whether the tool has a secret that the server does not have yet. */
export function hasNewSecret(tool: Tool): boolean {
  return valuesOf(tool).some(isNewSecret);
}

/** Returns whether a stored secret of the tool is gone, so that it must be entered again. */
export function hasMissingSecret(tool: Tool): boolean {
  return valuesOf(tool).some(
    (value) => typeof value === "object" && "secret_id" in value && value.secret_last4 === null,
  );
}

/** Returns the values of all headers and query parameters of the tool. */
function valuesOf(tool: Tool): Value[] {
  if (tool.type !== "http") return [];
  return [tool, ...tool.operations]
    .flatMap(({ headers, query }) => [headers, query])
    .flatMap((values) => Object.values(values ?? {}));
}

function isNewSecret(value: Value): value is Extract<Value, { secret: string }> {
  return typeof value === "object" && "secret" in value;
}

function mapValues(tool: HttpTool, change: (value: Value) => Value): HttpTool {
  const all = (values: Values | undefined) =>
    values && Object.fromEntries(Object.entries(values).map(([name, v]) => [name, change(v)]));
  const both = <Owner extends Pick<HttpTool, "headers" | "query">>(owner: Owner): Owner => ({
    ...owner,
    ...(owner.headers && { headers: all(owner.headers) }),
    ...(owner.query && { query: all(owner.query) }),
  });
  return { ...both(tool), operations: tool.operations.map(both) };
}

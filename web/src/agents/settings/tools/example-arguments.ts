import type { HttpTool, Tool } from "../fields.ts";

/** A function that a tool offers to the model. */
export interface ToolFunction {
  readonly name: string;
  /** Example arguments for a trial, which the person can complete. */
  readonly example: Readonly<Record<string, unknown>>;
}

/** Returns the functions that a tool offers to the model. */
export function functionsOf(tool: Tool): readonly ToolFunction[] {
  if (tool.type === "clock") return [{ name: "clock", example: {} }];
  return tool.operations.map((operation) => ({
    name: operation.name,
    example: exampleArguments(operation),
  }));
}

function exampleArguments({ parameters, body }: HttpTool["operations"][number]) {
  const example = exampleOf(parameters ?? { type: "object" }) as Record<string, unknown>;
  return body === undefined || isConstant(body)
    ? example
    : { ...example, body: exampleOf(body, { isBody: true }) };
}

interface Schema {
  readonly type?: unknown;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly unknown[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly additionalProperties?: unknown;
}

const toSchema = (schema: unknown) =>
  (typeof schema === "object" && schema !== null ? schema : {}) as Schema;

/**
 * Returns whether Beckon adds the whole value to the body and does not show it to the model, as
 * `splitFixedFields` of the server does.
 */
function isConstant(schema: unknown): boolean {
  const given = toSchema(schema);
  if (Object.hasOwn(given, "const")) return true;
  const { type, properties = {}, anyOf, additionalProperties = false } = given;
  const fields = Object.values(properties);
  return (
    type === "object" &&
    fields.length > 0 &&
    fields.every(isConstant) &&
    anyOf === undefined &&
    additionalProperties === false
  );
}

/**
 * Returns a value of the schema: its default, an example, or an empty value of its type.
 * @param isBody whether the schema is a body, or in one but not in a list or `anyOf`. Beckon adds
 *   constants only there; elsewhere the model sends them.
 */
function exampleOf(schema: unknown, { isBody = false } = {}): unknown {
  const given = toSchema(schema);
  if (given.const !== undefined) return given.const;
  if (given.default !== undefined) return given.default;
  const listed = given.examples?.[0] ?? given.enum?.[0];
  if (listed !== undefined) return listed;
  if (given.anyOf?.[0] !== undefined) return exampleOf(given.anyOf[0]);
  const type = Array.isArray(given.type) ? given.type[0] : given.type;
  switch (type) {
    case "number":
    case "integer":
      return 0;
    case "boolean":
      return false;
    case "array":
      return [];
    case "null":
      return null;
    case "object":
      return Object.fromEntries(
        Object.entries(given.properties ?? {})
          .filter(([, property]) => !(isBody && isConstant(property)))
          .map(([name, property]) => [name, exampleOf(property, { isBody })]),
      );
    default:
      return "";
  }
}

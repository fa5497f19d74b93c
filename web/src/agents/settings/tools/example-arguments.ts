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
  return body === undefined ? example : { ...example, body: exampleOf(body) };
}

interface Schema {
  readonly type?: unknown;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly unknown[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** Returns a value of the schema: its default, an example, or an empty value of its type. */
function exampleOf(schema: unknown): unknown {
  const given = (typeof schema === "object" && schema !== null ? schema : {}) as Schema;
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
          // Left out: properties with `const`, which Beckon adds and does not show to the model.
          .filter(([, property]) => !Object.hasOwn(Object(property), "const"))
          .map(([name, property]) => [name, exampleOf(property)]),
      );
    default:
      return "";
  }
}

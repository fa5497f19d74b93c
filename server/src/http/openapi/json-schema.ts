import { z } from "zod";

export type JsonSchema = Record<string, unknown>;

/** JSON Schema of what is sent to us: what has a default need not be there, and an unknown member is refused. */
export function schemaOfRequest(schema: z.ZodType): JsonSchema {
  return convert(schema, "input");
}

/** JSON Schema of what we answer: complete, and open to members that are added later. */
export function schemaOfAnswer(schema: z.ZodType): JsonSchema {
  return open(convert(schema, "output"));
}

function convert(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const {
    $schema: _,
    $defs = {},
    ...converted
  } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      // The format says it; the expression is four lines long.
      if (jsonSchema.format === "date-time") delete jsonSchema.pattern;
      const { def } = zodSchema._zod;
      // What a transformation makes has the form of what it takes, but for a default.
      if (io === "output" && def.type === "pipe" && def.out._zod.def.type === "transform") {
        Object.assign(jsonSchema, convert(def.in as z.ZodType, io));
      }
    },
  });
  for (const definition of Object.values($defs)) {
    if (definition.anyOf?.length !== 6)
      throw new Error(
        "a schema refers to itself, and only z.json() may: give it a place in components",
      );
  }
  return unreferenced(converted) as JsonSchema;
}

/**
 * With `{}`, anything, in the place of what `z.json()` is spelt out as: a definition that refers to itself from the root of its schema, which
 * is not the root of the document that the schema comes to stand in.
 */
function unreferenced(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unreferenced);
  if (typeof value !== "object" || value === null) return value;
  if ("$ref" in value && String(value.$ref).startsWith("#/$defs/")) return {};
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, unreferenced(each)]),
  );
}

function open(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema).filter(
    ([name, value]) => name !== "additionalProperties" || value !== false,
  );
  return Object.fromEntries(entries.map(([name, value]) => [name, openAny(value)]));
}

function openAny(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(openAny);
  return typeof value === "object" && value !== null ? open(value as JsonSchema) : value;
}

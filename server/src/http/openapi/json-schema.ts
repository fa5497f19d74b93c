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
  const { $schema: _, ...converted } = z.toJSONSchema(schema, {
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
  return converted;
}

function open(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema).filter(([name, value]) => name !== "additionalProperties" || value !== false);
  return Object.fromEntries(entries.map(([name, value]) => [name, openAny(value)]));
}

function openAny(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(openAny);
  return typeof value === "object" && value !== null ? open(value as JsonSchema) : value;
}

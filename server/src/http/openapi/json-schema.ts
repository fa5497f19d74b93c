import { receiving } from "@beckon/contract";
import { z } from "zod";

export type JsonSchema = Record<string, unknown>;

/**
 * Returns the JSON Schema of a request. Fields with a default are optional, and unknown fields are
 * invalid.
 */
export function schemaOfRequest(schema: z.ZodType): JsonSchema {
  return convert(schema, "input");
}

/** Returns the JSON Schema of a response. It allows fields that later versions add. */
export function schemaOfResponse(schema: z.ZodType): JsonSchema {
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
      // The pattern is removed, because it says the same as the format and is four lines long.
      if (jsonSchema.format === "date-time" || jsonSchema.format === "date")
        delete jsonSchema.pattern;
      if (jsonSchema.type === "integer") setWidth(jsonSchema);
      if (io === "input" && presetFields.has(zodSchema)) describeDefault(jsonSchema);
      const { def } = zodSchema._zod;
      // A transformation is described by its input schema, because its output has the same
      // structure apart from defaults.
      if (io === "output" && def.type === "pipe" && def.out._zod.def.type === "transform") {
        Object.assign(jsonSchema, convert(def.in as z.ZodType, io));
      }
    },
  });
  for (const definition of Object.values($defs)) {
    // Zod writes a schema that refers to itself into `$defs`. `z.json()` is recognized by its six
    // alternatives: string, number, boolean, null, array and object.
    if (definition.anyOf?.length !== 6)
      throw new Error("only z.json() can refer to itself: move the schema to the components");
  }
  return unreferenced(converted) as JsonSchema;
}

const { preset: _, ...fieldsOfPresets } = receiving.shape;
/** The fields of `receiving` whose default is the value of the preset that the request names. */
const presetFields: ReadonlySet<unknown> = new Set(Object.values(fieldsOfPresets));

/**
 * Moves the default to the description. As `default`, which applies only without a preset, clients
 * that fill in the defaults of schemas would send it with a preset too, and so turn the preset's
 * verification off.
 */
function describeDefault(schema: z.core.JSONSchema.BaseSchema): void {
  const { default: value } = schema;
  delete schema.default;
  schema.description = `Default: that of \`preset\`; without one, \`${JSON.stringify(value)}\`.`;
}

const maxInt32 = 2 ** 31 - 1;

/**
 * Marks an integer that needs 64 bits. Generators of clients for Go, Java and C# use 32 bits for
 * integers without this format (OpenAPI 3.1, 4.4). Zod gives each integer the range in which
 * JavaScript is exact. It is left out, because it says nothing about the field, and as a literal
 * it does not fit the types that the generators choose.
 */
function setWidth(schema: z.core.JSONSchema.BaseSchema): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if ((schema.maximum ?? Number.POSITIVE_INFINITY) > maxInt32) schema.format = "int64";
}

/**
 * Replaces references to the definition of `z.json()` by `{}`, which allows any value. Such a
 * reference, `#/$defs/…`, starts at the root of the JSON document. The root of the OpenAPI document
 * has no `$defs`, so the reference would lead nowhere.
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

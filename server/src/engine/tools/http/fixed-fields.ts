import type { ValueSchema } from "@beckon/contract";
import { isJsonObject } from "../../../base/json/index.ts";

/**
 * A body schema, split into constants and the part that the model fills in. A field with `const` is
 * a constant, at any depth of nested objects: the model does not see it and cannot send it. Within
 * a list or an `anyOf`, however, fields with `const` belong to the model's part, because the model
 * selects an alternative by them. If the schema also allows values that are not objects, such as
 * null, the model decides whether it sends an object.
 */
export interface SplitBody {
  /** Schema of the part that the model fills in; undefined if everything is constant. */
  readonly modelSchema: ValueSchema | undefined;
  /**
   * Returns the complete value: the model's fields and the constants. A constant replaces what the
   * model sent for it.
   */
  complete(filled: unknown): unknown;
}

/** Splits a body schema into its constants and the schema that the model sees. */
export function splitFixedFields(schema: ValueSchema): SplitBody {
  if ("const" in schema) return { modelSchema: undefined, complete: () => schema.const };
  const canBeObject = schema.type === undefined || [schema.type].flat().includes("object");
  if (!canBeObject || schema.properties === undefined)
    return { modelSchema: schema, complete: (filled) => filled };

  const fields = Object.entries(schema.properties).map(([name, member]) => ({
    name,
    ...splitFixedFields(member),
  }));
  const open = fields.flatMap(({ name, modelSchema: fieldSchema }) =>
    fieldSchema === undefined ? [] : [[name, fieldSchema] as const],
  );
  const isFixed =
    schema.type === "object" &&
    fields.length > 0 &&
    open.length === 0 &&
    schema.anyOf === undefined &&
    (schema.additionalProperties ?? false) === false;
  const required = schema.required?.filter((name) => open.some(([left]) => left === name));
  return {
    modelSchema: isFixed
      ? undefined
      : {
          ...schema,
          properties: Object.fromEntries(open),
          ...(required === undefined ? {} : { required }),
        },
    complete: (filled) => {
      if (!isFixed && filled !== undefined && !isJsonObject(filled)) return filled;
      const value = new Map<string, unknown>(
        !isFixed && isJsonObject(filled) ? Object.entries(filled) : [],
      );
      for (const { name, modelSchema: fieldSchema, complete } of fields) {
        // An object that the model omitted stays omitted, except if all its fields are constant.
        if (fieldSchema === undefined || value.has(name))
          value.set(name, complete(value.get(name)));
      }
      return Object.fromEntries(value);
    },
  };
}

/**
 * Returns the schema in the form that providers expect, with an explicit `additionalProperties` in
 * every object schema. It is false by default, but true if a schema and the alternatives of its
 * `anyOf` define properties of the same object: with false, each of these schemas would forbid the
 * properties that only another one defines.
 *
 * @param isOpen whether `schema` is an alternative of a schema with properties. Default false.
 */
export function schemaForModel(schema: ValueSchema, isOpen = false): ValueSchema {
  const { properties, items, anyOf, additionalProperties } = schema;
  return {
    ...schema,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, member]) => [name, schemaForModel(member)]),
          ),
        }),
    ...(items === undefined ? {} : { items: schemaForModel(items) }),
    ...(anyOf === undefined
      ? {}
      : {
          anyOf: anyOf.map((choice) => schemaForModel(choice, isOpen || properties !== undefined)),
        }),
    ...([schema.type].flat().includes("object")
      ? {
          additionalProperties:
            typeof additionalProperties === "object"
              ? schemaForModel(additionalProperties)
              : (additionalProperties ?? (isOpen || anyOf !== undefined)),
        }
      : {}),
  };
}

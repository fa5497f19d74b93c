import type { ValueSchema } from "@beckon/contract";

/**
 * What of a body is fixed: members with `const`, at any depth of objects. The model is neither shown them nor may it send them; in
 * lists and in `anyOf` a `const` tells forms apart and stays the model's to write.
 */
export interface Opened {
  /** What the model fills in; undefined when nothing is left to it. */
  readonly open: ValueSchema | undefined;
  /** The whole value, made of what the model filled in. */
  complete(filled: unknown): unknown;
}

export function openUp(schema: ValueSchema): Opened {
  if ("const" in schema) return { open: undefined, complete: () => schema.const };
  if (schema.type !== "object" || schema.properties === undefined)
    return { open: schema, complete: (filled) => filled };

  const members = Object.entries(schema.properties).map(([name, member]) => ({
    name,
    ...openUp(member),
  }));
  const open = members.flatMap(({ name, open: left }) =>
    left === undefined ? [] : [[name, left] as const],
  );
  const isFixed =
    members.length > 0 && open.length === 0 && (schema.additionalProperties ?? false) === false;
  const required = schema.required?.filter((name) => open.some(([left]) => left === name));
  return {
    open: isFixed
      ? undefined
      : {
          ...schema,
          properties: Object.fromEntries(open),
          ...(required === undefined ? {} : { required }),
        },
    complete: (filled) => {
      const given =
        typeof filled === "object" && filled !== null
          ? new Map(Object.entries(filled))
          : new Map<string, unknown>();
      for (const { name, open: left, complete } of members) {
        // An object that the model left out stays away, unless all of it is fixed.
        if (left === undefined || given.has(name)) given.set(name, complete(given.get(name)));
      }
      return Object.fromEntries(given);
    },
  };
}

/** The schema as providers expect it: every object says that it takes no other members, unless it does. */
export function asShown(schema: ValueSchema): ValueSchema {
  const { properties, items, anyOf, additionalProperties } = schema;
  return {
    ...schema,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, member]) => [name, asShown(member)]),
          ),
        }),
    ...(items === undefined ? {} : { items: asShown(items) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(asShown) }),
    ...([schema.type].flat().includes("object")
      ? {
          additionalProperties:
            typeof additionalProperties === "object"
              ? asShown(additionalProperties)
              : (additionalProperties ?? false),
        }
      : {}),
  };
}

import { compile, type JSONSchema } from "json-schema-to-typescript";
import type { Schema } from "./document.ts";
import { pascal } from "./names.ts";

/** Type names of the components whose own names are global types in TypeScript. */
const renamed: Readonly<Record<string, string>> = { Error: "ErrorAnswer", Event: "RunEvent" };

/** Returns the name of a component's type. */
export function typeName(component: string): string {
  return renamed[component] ?? component;
}

/** Returns TypeScript declarations of the schemas, each exported under its name. */
export async function declarationsOf(schemas: Readonly<Record<string, Schema>>): Promise<string> {
  const names = new Map<string, string>();
  const definitions = Object.fromEntries(
    Object.entries(schemas).flatMap(([name, schema]) => hoistDefinitions(name, schema, names)),
  );
  const declared = await compile({ title: unnamed, definitions } as JSONSchema, unnamed, {
    additionalProperties: false,
    bannerComment: "",
    format: false,
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: true,
  });
  return (
    declared
      // Removes the type of the enclosing schema and the comments that refer to it.
      .replace(new RegExp(`export interface ${unnamed} \\{[^}]*\\}\\n?`), "")
      .replaceAll(
        new RegExp(
          `\\n \\* This interface was referenced by \`${unnamed}\`'s JSON-Schema\\n \\* via the \`definition\` "\\w+"\\.`,
          "g",
        ),
        "",
      )
      .replaceAll(/\/\*\*\s*\*\/\n/g, "")
      .trim()
  );
}

const unnamed = "WithoutName";

/**
 * Returns the schema and those in its `$defs` as separate entries.
 * @param names The type names given so far, by definition. Schemas with the same `$defs` share the
 *   names that the first of them gave, so each definition is declared once.
 */
function hoistDefinitions(
  name: string,
  schema: Schema,
  names: Map<string, string>,
): [string, Schema][] {
  const { $defs = {}, ...rest } = schema as { $defs?: Record<string, Schema> };
  const inner = Object.entries($defs).map(([key, each]) => {
    const text = JSON.stringify($defs) + key;
    const own = names.get(text) ?? `${name}${pascal(key.replace(/^_*schema/, "part"))}`;
    names.set(text, own);
    return [own, key, each] as const;
  });
  const targets = new Map(inner.map(([own, key]) => [`#/$defs/${key}`, `#/definitions/${own}`]));
  return [
    [name, rewriteReferences(rest, targets) as Schema],
    ...inner.map(([own, , each]): [string, Schema] => [
      own,
      rewriteReferences(each, targets) as Schema,
    ]),
  ];
}

/**
 * Returns the schema with its references changed to refer to `definitions`. A string with
 * `x-extensible-enum` gets the union of its known values and `string & {}`: editors complete the
 * known ones, and values of later versions are accepted. An object schema without properties gets a
 * type that allows any field, or no field if its `additionalProperties` is false. Without this, the
 * compiler would treat both alike, because `declarationsOf` passes it `additionalProperties: false`
 * as the default for all schemas.
 */
function rewriteReferences(value: unknown, targets: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((each) => rewriteReferences(each, targets));
  if (typeof value !== "object" || value === null) return value;
  const { type, properties = {}, additionalProperties, ...rest } = value as Schema;
  const known = rest["x-extensible-enum"];
  if (Array.isArray(known)) {
    const union = [...known.map((each) => JSON.stringify(each)), "(string & {})"].join(" | ");
    return { ...(value as Schema), tsType: union };
  }
  const bare = type === "object" && Object.keys(properties as object).length === 0;
  if (bare && additionalProperties === false) return { tsType: "Record<string, never>" };
  return Object.fromEntries(
    Object.entries(
      bare && additionalProperties === undefined ? { ...value, additionalProperties: {} } : value,
    ).map(([name, each]) => {
      if (name !== "$ref" || typeof each !== "string")
        return [name, rewriteReferences(each, targets)];
      return [
        name,
        targets.get(each) ??
          each.replace(
            /^#\/components\/schemas\/(.*)$/,
            (_, component: string) => `#/definitions/${typeName(component)}`,
          ),
      ];
    }),
  );
}

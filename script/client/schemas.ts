import { compile, type JSONSchema } from "json-schema-to-typescript";
import type { Schema } from "./document.ts";
import { pascal } from "./names.ts";

/** What TypeScript has already: a caller who imports the name must still have the other. */
const taken: Readonly<Record<string, string>> = { Error: "ErrorAnswer", Event: "RunEvent" };

/** The name of a component's type. */
export function typeName(component: string): string {
  return taken[component] ?? component;
}

/** TypeScript declarations of the schemas, each exported under its name. References lead to other names. */
export async function declarationsOf(schemas: Readonly<Record<string, Schema>>): Promise<string> {
  const names = new Map<string, string>();
  const definitions = Object.fromEntries(
    Object.entries(schemas).flatMap(([name, schema]) => unfolded(name, schema, names)),
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
      // The whole has a type too, which means nothing, as does where each was found.
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

/** The schema and those that it defines inside itself, all at the top. @param names those of definitions that were met before. */
function unfolded(name: string, schema: Schema, names: Map<string, string>): [string, Schema][] {
  const { $defs = {}, ...rest } = schema as { $defs?: Record<string, Schema> };
  const inner = Object.entries($defs).map(([key, each]) => {
    const text = JSON.stringify($defs) + key;
    const own = names.get(text) ?? `${name}${pascal(key.replace(/^_*schema/, "part"))}`;
    names.set(text, own);
    return [own, key, each] as const;
  });
  const targets = new Map(inner.map(([own, key]) => [`#/$defs/${key}`, `#/definitions/${own}`]));
  return [
    [name, referring(rest, targets) as Schema],
    ...inner.map(([own, , each]): [string, Schema] => [own, referring(each, targets) as Schema]),
  ];
}

/** The same with references that lead to definitions. An object of which nothing is said may have any members. */
function referring(value: unknown, targets: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((each) => referring(each, targets));
  if (typeof value !== "object" || value === null) return value;
  const { type, properties = {}, additionalProperties } = value as Schema;
  const bare = type === "object" && Object.keys(properties as object).length === 0;
  if (bare && additionalProperties === false) return { tsType: "Record<string, never>" };
  return Object.fromEntries(
    Object.entries(
      bare && additionalProperties === undefined ? { ...value, additionalProperties: {} } : value,
    ).map(([name, each]) => {
      if (name !== "$ref" || typeof each !== "string") return [name, referring(each, targets)];
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

import type { ValueSchema } from "@beckon/contract";
import { toScalarOrList } from "./parameters.ts";
import { nodeAt, type OpenapiNode, textAt } from "./read-document.ts";
import { withOneType } from "./scalar-schema.ts";

/**
 * Returns the schema of a body that is sent as a form, or the reason why a tool cannot send it.
 * Warns about optional properties that are left out.
 * @param media the OpenAPI object of the body's media type, whose `encoding` describes properties
 */
export function toFormSchema(
  schema: ValueSchema,
  media: OpenapiNode,
  warn: (message: string) => void,
): ValueSchema | string {
  const { properties = {}, anyOf, additionalProperties, required = [], ...others } = schema;
  if (![schema.type].flat().includes("object") || anyOf !== undefined)
    return "its body is a form that is not one object";
  const sent: Record<string, ValueSchema> = {};
  for (const [name, property] of Object.entries(properties)) {
    const converted = toField(property, nodeAt(nodeAt(media, "encoding"), name) ?? {}, (message) =>
      warn(`${name}: ${message}`),
    );
    if (typeof converted !== "string") sent[name] = converted;
    else if (required.includes(name)) return `the property ${name} of its form ${converted}`;
    else warn(`${name} is left out: it ${converted}`);
  }
  if (Object.keys(sent).length === 0) return "its body is a form without properties";
  if (additionalProperties !== undefined && additionalProperties !== false)
    warn("only properties that the schema defines are sent, because it is a form");
  return { ...others, type: "object", properties: sent, required };
}

function toField(
  schema: ValueSchema,
  encoding: OpenapiNode,
  warn: (message: string) => void,
): ValueSchema | string {
  const type = textAt(encoding, "contentType") ?? "";
  if (/\bjson\b/i.test(type)) return `is sent as ${type}`;
  if ("const" in schema) return schema;
  const one = withOneType(schema, warn);
  const style = textAt(encoding, "style");
  if (one?.type === "array" && style === "deepObject") return `is an array of the style ${style}`;
  return toScalarOrList(one, { node: encoding, where: "query" }, warn);
}

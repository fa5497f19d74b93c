import { escapeHtml, prose } from "./html.ts";
import type { Schema } from "./operations.ts";

/** Returns the URL at which the pages describe a resource of the OpenAPI document. */
export type LinkTo = (resource: string) => string;

interface Row {
  readonly name: string;
  readonly type: string;
  readonly notes: string;
}

/** Maximum depth of the fields that are shown. Deeper fields are only in the OpenAPI document. */
const maxDepth = 3;

/**
 * Describes a schema as HTML: first a link to each resource whose fields it includes (`allOf`),
 * then a table of its own fields. For a schema without either, the HTML is only the schema's type.
 * @param options.marksRequired whether required fields are marked. Only for request bodies: in
 *   responses, almost every field is required by the schema.
 */
export function renderFields(
  schema: Schema,
  linkTo: LinkTo,
  { marksRequired = false } = {},
): string {
  const { inherited, rows } = fieldsOf(schema, { linkTo, marksRequired, prefix: "", depth: 0 });
  const all = inherited.map((name) => `<p>All fields of ${link(name, linkTo)}.</p>`).join("");
  if (rows.length === 0) return all === "" ? `<p>${typeOf(schema, linkTo)}</p>` : all;
  return `${all}<table class="fields">${rows.map(renderRow).join("")}</table>`;
}

/** Returns the row of a table that describes one field or parameter. */
export function renderRow({ name, type, notes }: Row): string {
  const breakable = escapeHtml(name).replaceAll(/[._-]/g, "$&<wbr>");
  return `<tr><td><code>${breakable}</code></td><td><span class="type">${type}</span>${
    notes === "" ? "" : ` ${notes}`
  }</td></tr>`;
}

interface Reading {
  readonly linkTo: LinkTo;
  readonly marksRequired: boolean;
  /** Text before the names of the fields, for example `limits.`. */
  readonly prefix: string;
  /** Number of objects that contain the schema, 0 for the outermost one. */
  readonly depth: number;
}

/**
 * Returns the rows of a schema's fields and of the fields below them. `inherited` has the names of
 * the resources in its `allOf`, whose fields are not repeated as rows.
 */
function fieldsOf(schema: Schema, reading: Reading): { inherited: string[]; rows: Row[] } {
  const { linkTo, marksRequired, prefix, depth } = reading;
  const parts = schema.allOf as readonly Schema[] | undefined;
  if (parts !== undefined) {
    const each = parts.map((part) => fieldsOf(part, reading));
    const refs = parts.flatMap((part) => (typeof part.$ref === "string" ? [nameOf(part)] : []));
    return { inherited: refs, rows: each.flatMap(({ rows }) => rows) };
  }
  const properties = (schema.properties ?? {}) as Readonly<Record<string, Schema>>;
  const required = (schema.required ?? []) as readonly string[];
  const rows = Object.entries(properties).flatMap(([field, inner]) => {
    const name = prefix + field;
    const row = {
      name,
      type: typeOf(inner, linkTo),
      notes: notesOf(inner, marksRequired && required.includes(field)),
    };
    const items = inner.type === "array" ? (inner.items as Schema | undefined) : undefined;
    const nested = depth + 1 < maxDepth ? (items ?? inner) : {};
    const below = { ...reading, prefix: items === undefined ? `${name}.` : `${name}[].` };
    return [row, ...fieldsOf(nested, { ...below, depth: depth + 1 }).rows];
  });
  return { inherited: [], rows };
}

function nameOf(schema: Schema): string {
  return String(schema.$ref).split("/").at(-1) ?? "";
}

function link(name: string, linkTo: LinkTo): string {
  return `<a href="${linkTo(name)}">${name}</a>`;
}

/** Returns the type of a schema as HTML, for example `array of string`. */
export function typeOf(schema: Schema, linkTo: LinkTo): string {
  if (typeof schema.$ref === "string") return link(nameOf(schema), linkTo);
  if ("const" in schema) return escapeHtml(JSON.stringify(schema.const));
  if (Array.isArray(schema.enum))
    return schema.enum.map((value) => escapeHtml(JSON.stringify(value))).join(" or ");
  const parts = schema.allOf as readonly Schema[] | undefined;
  if (parts !== undefined) return parts.map((part) => typeOf(part, linkTo)).join(" and ");
  const forms = (schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined;
  if (forms !== undefined)
    return [...new Set(forms.map((form) => typeOf(form, linkTo)))].join(" or ");
  if (Array.isArray(schema.type)) return schema.type.join(" or ");
  if (schema.type === "array") return `array of ${typeOf((schema.items ?? {}) as Schema, linkTo)}`;
  if (schema.type === undefined) return "any JSON value";
  return schema.format === "date-time" ? "RFC 3339 time" : String(schema.type);
}

/** Returns constraints, default and description of a schema as HTML. */
export function notesOf(schema: Schema, isRequired: boolean): string {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems } = schema;
  const limits = [
    range(minLength, maxLength, " characters"),
    range(minimum, atMost(maximum), ""),
    range(minItems, maxItems, " items"),
    "default" in schema ? `default ${JSON.stringify(schema.default)}` : "",
  ].filter(Boolean);
  const description = typeof schema.description === "string" ? schema.description : "";
  return [
    isRequired ? '<span class="required">required</span>' : "",
    limits.length === 0 ? "" : `<span class="limits">${escapeHtml(limits.join(", "))}</span>`,
    prose(description),
  ]
    .filter(Boolean)
    .join(" ");
}

/**
 * Returns undefined for the largest safe integer. The schema that zod generates for an integer has
 * this `maximum` by default, so it is not a limit that readers need to know.
 */
const atMost = (maximum: unknown) => (maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum);

function range(min: unknown, max: unknown, unit: string): string {
  const format = (value: unknown) => Number(value).toLocaleString("en");
  if (min === Number.MIN_SAFE_INTEGER) return range(undefined, max, unit);
  if (min !== undefined && max !== undefined) return `${format(min)} to ${format(max)}${unit}`;
  if (min !== undefined) return `at least ${format(min)}${unit}`;
  return max === undefined ? "" : `at most ${format(max)}${unit}`;
}

import { escapeHtml } from "../escape-html.ts";
import { prose } from "./html.ts";
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
  const forms = formsOf(schema);
  if (forms.length > 0) return { inherited: [], rows: rowsOfForms(forms, reading) };
  const properties = propertiesOf(schema);
  const required = (schema.required ?? []) as readonly string[];
  const rows = Object.entries(properties).flatMap(([field, inner]) => {
    const name = prefix + field;
    const row = {
      name,
      type: typeOf(inner, linkTo),
      notes: notesOf(inner, marksRequired && required.includes(field)),
    };
    const form = onlyForm(inner);
    const items = form.type === "array" ? (form.items as Schema | undefined) : undefined;
    const nested = depth + 1 < maxDepth ? (items ?? form) : {};
    const below = { ...reading, prefix: items === undefined ? `${name}.` : `${name}[].` };
    return [row, ...fieldsOf(nested, { ...below, depth: depth + 1 }).rows];
  });
  return { inherited: [], rows };
}

function propertiesOf({ properties }: Schema): Readonly<Record<string, Schema>> {
  return (properties ?? {}) as Readonly<Record<string, Schema>>;
}

/** Returns the alternatives of a schema, without null. */
function formsOf(schema: Schema): readonly Schema[] {
  const forms = (schema.anyOf ?? schema.oneOf ?? []) as readonly Schema[];
  return forms.filter(({ type }) => type !== "null");
}

/** Returns the schema of the values other than null; the schema itself if there are several. */
function onlyForm(schema: Schema): Schema {
  const [form, ...others] = formsOf(schema);
  return form === undefined || others.length > 0 ? schema : form;
}

/**
 * Returns the rows of the fields that the alternatives have, each name once. A field that only some
 * alternatives have names these by their values of the field that `tagOf` returns.
 */
function rowsOfForms(forms: readonly Schema[], reading: Reading): Row[] {
  const tag = tagOf(forms);
  const marksRequired = reading.marksRequired && tag !== undefined;
  const all = forms.flatMap((form) =>
    fieldsOf(form, { ...reading, marksRequired }).rows.map((row) => ({ row, form })),
  );
  return [...Map.groupBy(all, ({ row }) => row.name)].map(([name, same]) => {
    const some = same.length < forms.length ? same.map(({ form }) => form) : [];
    const only = tag === undefined || some.length === 0 ? "" : onlyFor(tag, some);
    return {
      name,
      type: either(same.map(({ row }) => row.type)),
      notes: [...new Set(same.map(({ row }) => row.notes)), only].filter(Boolean).join(" "),
    };
  });
}

function onlyFor(tag: string, forms: readonly Schema[]): string {
  const values = forms.map((form) => escapeHtml(JSON.stringify(constantOf(form, tag))));
  return `Only for <code>${escapeHtml(tag)}</code> ${values.join(" or ")}.`;
}

/** Returns the name of a field that has a constant in each alternative, and in each another one. */
function tagOf(forms: readonly Schema[]): string | undefined {
  const names = new Set(forms.flatMap((form) => Object.keys(propertiesOf(form))));
  return [...names].find((name) => {
    const constants = forms.map((form) => constantOf(form, name));
    return !constants.includes(undefined) && new Set(constants).size === forms.length;
  });
}

const constantOf = (schema: Schema, name: string): unknown => propertiesOf(schema)[name]?.const;

/** Returns types as one, each once. */
function either(types: readonly string[]): string {
  return [...new Set(types.flatMap((type) => type.split(" or ")))].join(" or ");
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
  if (forms !== undefined) return either(forms.map((form) => typeOf(form, linkTo)));
  if (Array.isArray(schema.type)) return schema.type.join(" or ");
  if (schema.type === "array") return `array of ${typeOf((schema.items ?? {}) as Schema, linkTo)}`;
  if (schema.type === undefined) return "any JSON value";
  return schema.format === "date-time" ? "RFC 3339 time" : String(schema.type);
}

/** Returns constraints, default and description of a schema as HTML. */
export function notesOf(schema: Schema, isRequired: boolean): string {
  const form = onlyForm(schema);
  const { minLength, maxLength, minimum, maximum, minItems, maxItems } = form;
  const limits = [
    range(minLength, maxLength, " characters"),
    range(minimum, maximum, ""),
    range(minItems, maxItems, " items"),
    "default" in schema ? `default ${JSON.stringify(schema.default)}` : "",
  ].filter(Boolean);
  const description = schema.description ?? form.description;
  return [
    isRequired ? '<span class="required">required</span>' : "",
    limits.length === 0 ? "" : `<span class="limits">${escapeHtml(limits.join(", "))}</span>`,
    typeof description === "string" ? prose(description) : "",
  ]
    .filter(Boolean)
    .join(" ");
}

function range(min: unknown, max: unknown, unit: string): string {
  const format = (value: unknown) => Number(value).toLocaleString("en");
  if (min !== undefined && max !== undefined) return `${format(min)} to ${format(max)}${unit}`;
  if (min !== undefined) return `at least ${format(min)}${unit}`;
  return max === undefined ? "" : `at most ${format(max)}${unit}`;
}

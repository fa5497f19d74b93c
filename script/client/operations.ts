import {
  type Content,
  type Endpoint,
  type Kind,
  kindOf,
  type Parameter,
  type Schema,
} from "./document.ts";
import { camel, type Name, namesOf, pascal, wordsOf } from "./names.ts";
import { typeName } from "./schemas.ts";

/** The source text of the client's functions, and the schemas of the types that it refers to. */
export interface Functions {
  readonly text: string;
  readonly schemas: Readonly<Record<string, Schema>>;
}

/**
 * Returns the source text of the client's functions, in groups: one function per operation and per
 * media type of its response.
 */
export function functionsOf(operations: readonly Endpoint[]): Functions {
  const names = namesOf(operations);
  const schemas: Record<string, Schema> = {};
  const groups: Record<string, string[]> = {};
  for (const endpoint of operations) {
    const name = names.get(endpoint.operation.operationId);
    if (name === undefined) continue;
    groups[name.group] ??= [];
    groups[name.group]?.push(...functionsFor(endpoint, name, schemas));
  }
  const text = Object.entries(groups)
    .map(([group, functions]) =>
      group === "" ? functions.join("\n") : `${group}: {\n${functions.join("\n")}\n},`,
    )
    .join("\n");
  return {
    text: `export function bindOperations(send: Sender) {\n return {\n${text}\n};\n}\nexport type Operations = ReturnType<typeof bindOperations>;\n`,
    schemas,
  };
}

/**
 * Headers that hand-written code of the client sets, in lower case. The generated functions have no
 * option for them.
 */
const handledHeaders = [
  "idempotency-key",
  "last-event-id",
  "beckon-external-id",
  "beckon-tags",
  "beckon-callback",
];

interface ResponseType {
  readonly kind: Kind | "nothing" | "list" | "data";
  /** Value of `Accept`; undefined if there is only one media type, and it is not of text. */
  readonly accept?: string;
  readonly type: string;
}

function functionsFor(
  { method, path, operation }: Endpoint,
  { method: name }: Name,
  schemas: Record<string, Schema>,
): string[] {
  const { operationId, parameters = [], requestBody } = operation;
  const own = pascal(operationId);
  const declare = (suffix: string, schema: Schema): string => {
    schemas[own + suffix] = schema;
    return own + suffix;
  };
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "");
  const readings = responseReadingsOf(operation, declare);
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const choosing = inQuery.find(
    (parameter) => readings.length > 1 && choosesAmong(parameter, readings),
  );
  const query = inQuery.filter((parameter) => parameter !== choosing);
  const inHeader = parameters.filter((parameter) => parameter.in === "header");
  const once = inHeader.some(({ name: header }) => header.toLowerCase() === "idempotency-key");
  const labelled = inHeader.some(({ name: header }) => header === "beckon-external-id");
  const headers = inHeader.filter(
    ({ name: header }) => !handledHeaders.includes(header.toLowerCase()),
  );
  const body = bodyOf(requestBody, declare);

  const functionParameters = [
    ...inPath.map((each) => `${camel(wordsOf(each))}: ${pathType(each, parameters)}`),
    ...(body === undefined ? [] : [`body${body.required ? "" : "?"}: ${body.type}`]),
    ...(query.length === 0
      ? []
      : [
          `query${query.some(({ required }) => required) ? "" : "?"}: ${declare("Query", objectOf(query))}`,
        ]),
    `options?: ${optionsType(headers, { once, labelled })}`,
  ];
  const queryOf = (form: string) => {
    if (choosing === undefined) return query.length === 0 ? [] : ["query"];
    return [
      `query: { ${query.length === 0 ? "" : "...query, "}${JSON.stringify(choosing.name)}: ${JSON.stringify(form)} }`,
    ];
  };
  const call = (accept: string | undefined, form: string) =>
    [
      `method: "${method}"`,
      `path: ${JSON.stringify(path)}`,
      ...(inPath.length === 0
        ? []
        : [`params: [${inPath.map((each) => camel(wordsOf(each))).join(", ")}]`]),
      ...queryOf(form),
      ...(body === undefined ? [] : ["body"]),
      ...(body?.text === undefined ? [] : [`bodyType: ${JSON.stringify(body.text)}`]),
      ...(accept === undefined ? [] : [`accept: ${JSON.stringify(accept)}`]),
      ...(once ? ["once: true"] : []),
      ...(labelled ? ["labelled: true"] : []),
      ...(takesNoKey(operation) ? ["open: true"] : []),
      ...(headers.length === 0
        ? []
        : [
            `headers: {${headers.map((each) => `${JSON.stringify(each.name)}: options?.${optionOf(each)}`).join(", ")}}`,
          ]),
    ].join(", ");
  return readings.map(({ suffix, form, response: { kind, accept, type } }) => {
    const { sends, gives } = sendCall(kind, type);
    return `${comment(operation, responseNote(kind))}\n${name}${suffix}: (${functionParameters.join(", ")}): ${gives} => send.${sends}({ ${call(accept, form)} }, options),\n`;
  });
}

/**
 * Returns the type of a path parameter. A number can be passed as a string too, because that is how
 * programs get it from a URL or from their own arguments.
 */
function pathType(name: string, parameters: readonly Parameter[]): string {
  const declared = parameters.find((each) => each.in === "path" && each.name === name);
  return declared?.schema?.type === "integer" ? "number | string" : "string";
}

/**
 * Returns whether the generated function sends no key. That is so if the operation needs no
 * credential, or accepts only a session's cookie.
 */
function takesNoKey({ security }: Endpoint["operation"]): boolean {
  return security !== undefined && !security.some((scheme) => "key" in scheme);
}

/**
 * Returns the method of `Sender` that reads a response of this kind, and the type that the
 * generated function returns.
 */
function sendCall(kind: ResponseType["kind"], type: string): { sends: string; gives: string } {
  switch (kind) {
    case "nothing":
      return { sends: "nothing", gives: "Promise<void>" };
    case "data":
      return { sends: `data<${type}>`, gives: `Promise<${type}>` };
    case "list":
      return { sends: `list<${type}>`, gives: `Listing<${type}>` };
    case "lines":
      return { sends: `lines<${type}>`, gives: `AsyncIterable<${type}>` };
    case "json":
      return { sends: `whole<${type}>`, gives: `Promise<${type}>` };
    case "text":
      return { sends: "text", gives: "Promise<string>" };
    default:
      return { sends: "bytes", gives: "Promise<Blob>" };
  }
}

const responseNote = (kind: ResponseType["kind"]) =>
  kind === "list" ? "Reads further pages as they are needed." : "";

interface Reading {
  readonly suffix: string;
  /** Short name of the media type, for example `yaml`. */
  readonly form: string;
  readonly response: ResponseType;
}

/**
 * Returns one entry per media type of the successful responses. The client gets a function for each
 * entry. The name of the first function has no suffix; the suffix of the others is their `form`.
 * Event streams are left out, because hand-written code of the client reads them, and so are HTML
 * pages, TwiML and plain text, which are for browsers, Twilio and Slack.
 */
function responseReadingsOf(
  { responses }: Endpoint["operation"],
  declare: (suffix: string, schema: Schema) => string,
): Reading[] {
  const good = Object.entries(responses).filter(([status]) => /^2/.test(status));
  const contents = good.flatMap(([, { content = {} }]) => Object.entries(content));
  const byType = Map.groupBy(contents, ([mediaType]) => mediaType);
  const readable = [...byType].filter(
    ([mediaType]) => kindOf(mediaType) !== "stream" && !/^text\/(html|plain|xml)$/.test(mediaType),
  );
  if (readable.length === 0)
    return [{ suffix: "", form: "", response: { kind: "nothing", type: "void" } }];
  return readable.map(([mediaType, each], index) => {
    const form = mediaType.split(";")[0]?.split(/[/+]/).at(-1) ?? "";
    const suffix = index === 0 ? "" : pascal(form);
    const schemas = each.map(([, { schema = {} }]) => schema);
    const response = responseTypeOf(kindOf(mediaType), schemas, (schema) =>
      declare(`${suffix}Answer`, schema),
    );
    return {
      suffix,
      form,
      response:
        byType.size === 1 && response.kind !== "text"
          ? response
          : { ...response, accept: mediaType },
    };
  });
}

/**
 * Returns whether the query parameter selects the media type of the response: its values include
 * each `form`, for example `yaml`. The client has one function per form, and that function sets the
 * parameter, so callers do not pass it.
 */
function choosesAmong({ schema }: Parameter, readings: readonly Reading[]): boolean {
  const values = (schema?.enum ?? []) as readonly unknown[];
  return readings.every(({ form }) => values.includes(form));
}

/**
 * Returns how a generated function reads the body of a response. For the JSON `{ok, data}`, the
 * function returns `data`. For `{ok, data, next}`, where `data` is a list, it returns a `Listing`.
 * For other JSON, it returns the whole body.
 */
function responseTypeOf(
  kind: Kind,
  schemas: readonly Schema[],
  declare: (schema: Schema) => string,
): ResponseType {
  const typeOf = (schema: Schema) => refName(schema) ?? declare(schema);
  const [schema = {}, ...more] = schemas;
  if (kind === "lines") return { kind, type: typeOf(schema) };
  if (kind !== "json") return { kind, type: "" };
  if (more.length > 0) return { kind, type: declare({ anyOf: schemas }) };
  const { data, next } = (schema.properties ?? {}) as Readonly<Record<string, Schema>>;
  if (data === undefined) return { kind, type: typeOf(schema) };
  if (next !== undefined && data.type === "array")
    return { kind: "list", type: typeOf((data.items ?? {}) as Schema) };
  return { kind: "data", type: typeOf(data) };
}

function refName({ $ref }: Schema): string | undefined {
  return typeof $ref === "string" ? typeName($ref.replace("#/components/schemas/", "")) : undefined;
}

interface Body {
  readonly type: string;
  readonly required: boolean;
  /** Media type of a body that is not JSON; undefined for JSON. */
  readonly text?: string;
}

/**
 * Returns the type of a request's body; undefined if there is no body or the body allows no field.
 */
function bodyOf(
  requestBody: { required?: boolean; content: Content } | undefined,
  declare: (suffix: string, schema: Schema) => string,
): Body | undefined {
  if (requestBody === undefined) return undefined;
  const { required = false, content } = requestBody;
  const types = Object.entries(content);
  const json = types.find(([type]) => kindOf(type) === "json")?.[1].schema;
  const other = types.find(([type]) => kindOf(type) !== "json")?.[0];
  if (json !== undefined && other === undefined && isEmptyObject(json)) return undefined;
  const forms = [
    ...(json === undefined ? [] : [refName(json) ?? declare("Body", json)]),
    ...(other === undefined
      ? []
      : [kindOf(other) === "bytes" ? "Blob | Uint8Array<ArrayBuffer> | string" : "string"]),
  ];
  return { type: forms.join(" | "), required, ...(other === undefined ? {} : { text: other }) };
}

function isEmptyObject({ type, properties = {}, additionalProperties }: Schema): boolean {
  return (
    type === "object" &&
    additionalProperties === false &&
    Object.keys(properties as object).length === 0
  );
}

function objectOf(parameters: readonly Parameter[]): Schema {
  return {
    type: "object",
    properties: Object.fromEntries(
      parameters.map(({ name, schema = {}, description }) => [
        name,
        description === undefined ? schema : { ...schema, description },
      ]),
    ),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  };
}

const optionOf = ({ name }: Parameter) => camel(wordsOf(name));

function optionsType(
  headers: readonly Parameter[],
  { once, labelled }: { readonly once: boolean; readonly labelled: boolean },
): string {
  const base = (once ? "OnceOptions" : "CallOptions") + (labelled ? " & LabelOptions" : "");
  if (headers.length === 0) return base;
  const members = headers.map(
    (each) =>
      `${each.description ? `/** ${inComment(each.description)} */\n` : ""}readonly ${optionOf(each)}?: string | number | undefined`,
  );
  return `${base} & {\n${members.join(";\n")} }`;
}

function comment({ summary = "", description = "" }: Endpoint["operation"], note: string): string {
  const sentences = [summary.replace(/([^.])$/, "$1."), description, note].filter(Boolean);
  return `/** ${inComment(sentences.join(" "))} */`;
}

const inComment = (text: string) => text.replaceAll("*/", "*\\/").replaceAll(/\s*\n\s*/g, " ");

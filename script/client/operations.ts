import {
  type Content,
  type Kind,
  kindOf,
  type Parameter,
  type Placed,
  type Schema,
} from "./document.ts";
import { camel, type Name, namesOf, pascal, wordsOf } from "./names.ts";
import { typeName } from "./schemas.ts";

/** The functions of a client, as text, and the schemas of the types that they name. */
export interface Functions {
  readonly text: string;
  readonly schemas: Readonly<Record<string, Schema>>;
}

/** One function for each operation and each way to read its answer, in groups. */
export function functionsOf(operations: readonly Placed[]): Functions {
  const names = namesOf(operations);
  const schemas: Record<string, Schema> = {};
  const groups: Record<string, string[]> = {};
  for (const placed of operations) {
    const name = names.get(placed.operation.operationId);
    if (name === undefined) continue;
    groups[name.group] ??= [];
    groups[name.group]?.push(...functionsFor(placed, name, schemas));
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

/** Headers of which the client knows more than their name. */
const byHand = ["idempotency-key", "last-event-id"];

interface Answer {
  readonly kind: Kind | "nothing" | "list" | "data";
  /** Undefined: nothing else is answered, so nothing else need be asked for. */
  readonly accept?: string;
  readonly type: string;
}

function functionsFor(
  { method, path, operation }: Placed,
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
  const answers = answersOf(operation, declare);
  const inQuery = parameters.filter((parameter) => parameter.in === "query");
  const choosing = inQuery.find(
    (parameter) => answers.length > 1 && choosesAmong(parameter, answers),
  );
  const query = inQuery.filter((parameter) => parameter !== choosing);
  const inHeader = parameters.filter((parameter) => parameter.in === "header");
  const once = inHeader.some(({ name: header }) => header.toLowerCase() === "idempotency-key");
  const headers = inHeader.filter(({ name: header }) => !byHand.includes(header.toLowerCase()));
  const body = bodyOf(requestBody, declare);

  const taken = [
    ...inPath.map((each) => `${camel(wordsOf(each))}: string`),
    ...(body === undefined ? [] : [`body${body.required ? "" : "?"}: ${body.type}`]),
    ...(query.length === 0
      ? []
      : [
          `query${query.some(({ required }) => required) ? "" : "?"}: ${declare("Query", membersOf(query))}`,
        ]),
    `options?: ${optionsType(headers, once)}`,
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
      ...(takesNoKey(operation) ? ["open: true"] : []),
      ...(headers.length === 0
        ? []
        : [
            `headers: {${headers.map((each) => `${JSON.stringify(each.name)}: options?.${optionOf(each)}`).join(", ")}}`,
          ]),
    ].join(", ");
  return answers.map(({ suffix, form, answer: { kind, accept, type } }) => {
    const { sends, gives } = sending(kind, type);
    return `${comment(operation, answerNote(kind))}\n${name}${suffix}: (${taken.join(", ")}): ${gives} => send.${sends}({ ${call(accept, form)} }, options),\n`;
  });
}

/** It needs no credential, or a session's cookie alone, which a key would outdo. */
function takesNoKey({ security }: Placed["operation"]): boolean {
  return security !== undefined && !security.some((scheme) => "key" in scheme);
}

/** How an answer is asked for, and what a caller gets. */
function sending(kind: Answer["kind"], type: string): { sends: string; gives: string } {
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

const answerNote = (kind: Answer["kind"]) =>
  kind === "list" ? "Reads further pages as they are needed." : "";

interface Reading {
  readonly suffix: string;
  /** What the media type is called in short, for example `yaml`. */
  readonly form: string;
  readonly answer: Answer;
}

/** The ways to read what an operation may answer. The first has no suffix, the others that of their form; events are read otherwise. */
function answersOf(
  { responses }: Placed["operation"],
  declare: (suffix: string, schema: Schema) => string,
): Reading[] {
  const good = Object.entries(responses).filter(([status]) => /^2/.test(status));
  const contents = good.flatMap(([, { content = {} }]) => Object.entries(content));
  const byType = Map.groupBy(contents, ([mediaType]) => mediaType);
  const readable = [...byType].filter(([mediaType]) => kindOf(mediaType) !== "stream");
  if (readable.length === 0)
    return [{ suffix: "", form: "", answer: { kind: "nothing", type: "void" } }];
  return readable.map(([mediaType, each], index) => {
    const form = mediaType.split(";")[0]?.split(/[/+]/).at(-1) ?? "";
    const suffix = index === 0 ? "" : pascal(form);
    const schemas = each.map(([, { schema = {} }]) => schema);
    const answer = answerOf(kindOf(mediaType), schemas, (schema) =>
      declare(`${suffix}Answer`, schema),
    );
    return { suffix, form, answer: byType.size === 1 ? answer : { ...answer, accept: mediaType } };
  });
}

/** A parameter that asks for one of the forms: each function asks for its own, and the caller is not asked. */
function choosesAmong({ schema }: Parameter, readings: readonly Reading[]): boolean {
  const values = (schema?.enum ?? []) as readonly unknown[];
  return readings.every(({ form }) => values.includes(form));
}

/** `{ok, data}` is its data, `{ok, data, next}` a list; anything else is what it is. */
function answerOf(
  kind: Kind,
  schemas: readonly Schema[],
  declare: (schema: Schema) => string,
): Answer {
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
  /** What a body that is not sent as JSON is. */
  readonly text?: string;
}

/** A body that cannot have any member is not asked for. */
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

function membersOf(parameters: readonly Parameter[]): Schema {
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

function optionsType(headers: readonly Parameter[], once: boolean): string {
  const base = once ? "OnceOptions" : "CallOptions";
  if (headers.length === 0) return base;
  const members = headers.map(
    (each) =>
      `${each.description ? `/** ${inComment(each.description)} */\n` : ""}readonly ${optionOf(each)}?: string | number | undefined`,
  );
  return `${base} & {\n${members.join(";\n")} }`;
}

function comment({ summary = "", description = "" }: Placed["operation"], note: string): string {
  const sentences = [summary.replace(/([^.])$/, "$1."), description, note].filter(Boolean);
  return `/** ${inComment(sentences.join(" "))} */`;
}

const inComment = (text: string) => text.replaceAll("*/", "*\\/").replaceAll(/\s*\n\s*/g, " ");

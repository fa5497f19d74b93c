import { z } from "zod";
import { isAllowed, parseAllowedHost } from "./allowed-host.ts";
import { operationMistakes } from "./http-operation.ts";
import { cleanText, isStorableText } from "./text.ts";
import { schemaMistake, type ValueSchema } from "./value-schema.ts";

/** Usable as a function's name with every provider of models. */
const toolName = z
  .string()
  .regex(
    /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/,
    "must be 1 to 64 of a-z A-Z 0-9 _ - and begin with a letter or _",
  );

const valueSchema = z.unknown().superRefine((value, context) => {
  const found = schemaMistake(value);
  if (found !== undefined)
    context.addIssue({ code: "custom", path: [...found.path], message: found.message });
}) as z.ZodType<ValueSchema>;

const printable = /^[\x20-\x7e]*$/;

/** What stands before a secret in its header, for example `Bearer `. */
const prefix = z.string().max(100).regex(printable, "must be printable ASCII").optional();

/**
 * A secret as it is shown: where it is kept, never what it is. `secret_last4` is empty for a secret under 12 characters and null for
 * one that is gone; it is ignored when it is sent back.
 */
const secretKept = z.strictObject({
  secret_id: z.string().max(100),
  secret_last4: z.string().max(4).nullable().optional(),
  prefix,
});
export type SecretKept = z.infer<typeof secretKept>;

/** A secret as it is given. Under 8 characters it could be guessed, and not be told from other text when an answer repeats it. */
const secretGiven = z.strictObject({
  secret: z.string().min(8).max(4_000).regex(printable, "must be printable ASCII"),
  prefix,
});

const text = cleanText(2_000);
const wording =
  'must be a text, or {"secret": "<8 to 4,000 printable ASCII characters>"}, or a secret as it was shown';
/** In the body of a request: secrets given now, and such that are kept. */
const givenValue = z.union([text, secretGiven, secretKept], { error: wording });
/** In a configuration: secrets that are kept. */
const keptValue = z.union([text, secretKept], { error: wording });
export type GivenValue = z.infer<typeof givenValue>;

/** A secret as an exported document holds it: left out, to be filled in before the import or given to the agent afterwards. */
const secretLeftOut = z.strictObject({ secret: secretGiven.shape.secret.nullable(), prefix });
/** In a document. Not as it was shown: a document is for other agents, which do not have that secret. */
const valueInDocument = z.union([text, secretLeftOut], {
  error:
    'must be a text, {"secret": null}, or {"secret": "<8 to 4,000 printable ASCII characters>"}',
});
export type ValueInDocument = z.infer<typeof valueInDocument>;

const headerName = z
  .string()
  .regex(/^[a-zA-Z0-9!#$%&'*+.^_`|~-]{1,100}$/, "must be the name of a header");
const queryName = cleanText(200).min(1);
const atMost = (max: number) => (record: object) => Object.keys(record).length <= max || false;

function httpTool<Value extends z.ZodType<GivenValue | ValueInDocument>>(value: Value) {
  const headers = z
    .record(headerName, value)
    .refine(atMost(32), "must be at most 32 headers")
    .default({});
  const query = z
    .record(queryName, value)
    .refine(atMost(64), "must be at most 64 members")
    .default({});
  const operation = z
    .strictObject({
      /** The name under which the model calls it. */
      name: toolName,
      /** Tells the model when to use it. */
      description: cleanText(4_000).min(1),
      method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]),
      /** `{placeholders}` stand in path and query only. */
      url: cleanText(2_000),
      query,
      headers,
      /** What the model may fill in: an object whose members are texts, numbers, booleans or lists of these. */
      parameters: valueSchema.default({ type: "object", properties: {} }),
      /** JSON body. The model fills in the argument `body`; members with `const` are sent as they are and not shown to it. */
      body: valueSchema.optional(),
      /** Whether a call whose answer was lost may simply be made again. Default: for GET and HEAD. */
      safe_to_repeat: z.boolean().optional(),
      /** Name of a header that is sent the call's idempotency key, the same on every try. */
      idempotency_header: headerName.optional(),
    })
    .superRefine((given, context) => {
      for (const { path, message } of operationMistakes(given))
        context.addIssue({ code: "custom", path: [...path], message });
    })
    .transform((given) => ({
      ...given,
      safe_to_repeat: given.safe_to_repeat ?? (given.method === "GET" || given.method === "HEAD"),
    }));

  return z
    .strictObject({
      type: z.literal("http"),
      name: toolName,
      /** For people. */
      description: cleanText(2_000).default(""),
      /** `host` or `host:port`, exact. */
      allowed_hosts: z
        .array(
          z
            .string()
            .max(300)
            .refine((host) => parseAllowedHost(host) !== undefined, {
              error: "must be a host or host:port, exact: no scheme, path or wildcard",
              abort: true,
            })
            .transform((host) => parseAllowedHost(host) ?? host),
        )
        .min(1)
        .max(50),
      /** Sent with every operation. */
      headers,
      query,
      operations: z.array(operation).min(1).max(64),
      /** Of one call, its answer included. */
      timeout_seconds: z.number().int().min(1).max(300).default(30),
      /** Of an answer's body; what is longer is cut, with a note. */
      max_response_bytes: z.number().int().min(1).max(262_144).default(65_536),
      /** Of all operations together. */
      max_calls_per_run: z.number().int().min(1).max(1_000).default(100),
    })
    .superRefine((grant, context) => {
      for (const { path, message } of grantMistakes(grant))
        context.addIssue({ code: "custom", path: [...path], message });
    });
}

/** As it is sent by who configures an agent. */
export const httpToolBody = httpTool(givenValue);
export type HttpToolBody = z.infer<typeof httpToolBody>;

/** As it is exported and imported. */
export const httpToolInDocument = httpTool(valueInDocument);

/** As it is kept and shown. */
export const httpToolGrant = httpTool(keptValue);
export type HttpToolGrant = z.infer<typeof httpToolGrant>;
/** One operation that an `http` tool offers to the model. */
export type HttpOperation = HttpToolGrant["operations"][number];

/** What is looked at here of a tool, with secrets of any form. */
interface Grant {
  readonly allowed_hosts: readonly string[];
  readonly headers: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly operations: readonly {
    readonly url: string;
    readonly headers: object;
    readonly query: object;
  }[];
}

function* grantMistakes({ allowed_hosts, headers, query, operations }: Grant) {
  const taken = (own: string, shared: object) =>
    Object.keys(shared).some((name) => name.toLowerCase() === own.toLowerCase());
  for (const [name, value] of [...Object.entries(headers), ...Object.entries(query)]) {
    const where = name in headers ? "headers" : "query";
    if (
      typeof value === "string" &&
      (/[{}]/.test(value) || (where === "headers" && !printable.test(value)))
    ) {
      yield {
        path: [where, name],
        message: "must be fixed printable text: {placeholders} stand in operations",
      };
    }
    if (!isStorableText(name)) yield { path: [where, name], message: "is no usable name" };
  }
  for (const [index, operation] of operations.entries()) {
    const origin = /^https?:\/\/[^/?#{}@]+/.exec(operation.url)?.[0];
    if (origin !== undefined && URL.canParse(origin) && !isAllowed(origin, allowed_hosts)) {
      yield {
        path: ["operations", index, "url"],
        message: `leads to ${new URL(origin).host}, which is not in allowed_hosts`,
      };
    }
    for (const name of Object.keys(operation.headers)) {
      if (taken(name, headers))
        yield {
          path: ["operations", index, "headers", name],
          message: "is set for the whole tool",
        };
    }
    for (const name of Object.keys(operation.query)) {
      if (Object.hasOwn(query, name))
        yield { path: ["operations", index, "query", name], message: "is set for the whole tool" };
    }
  }
}

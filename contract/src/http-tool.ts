import { z } from "zod";
import { isAllowed, parseAllowedHost } from "./allowed-host.ts";
import { addMistakes, boundedList, boundedRecord } from "./bounded.ts";
import { bodyTypes, isReservedHeader, operationMistakes } from "./http-operation.ts";
import { cleanText, isStorableText } from "./text.ts";
import { schemaMistake, type ValueSchema } from "./value-schema.ts";

/** A name that every model provider accepts as the name of a function. */
const toolName = z
  .string()
  .regex(
    /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/,
    "must be 1 to 64 characters a-z A-Z 0-9 _ - and start with a letter or _",
  );

const valueSchema = z.unknown().superRefine((value, context) => {
  const found = schemaMistake(value);
  if (found !== undefined)
    context.addIssue({
      code: "custom",
      path: [...found.path],
      message: found.message,
      // The checks of the operation expect a valid schema.
      continue: false,
    });
}) as z.ZodType<ValueSchema>;

const printable = /^[\x20-\x7e]*$/;

/** Text before the secret in its header, for example `Bearer `. */
const prefix = z.string().max(100).regex(printable, "must be printable ASCII").optional();

/**
 * A stored secret in responses: its id, never its value. `secret_last4` is empty for secrets under
 * 12 characters and null for a deleted secret. In requests, `secret_last4` is ignored.
 */
const storedSecret = z.strictObject({
  secret_id: z.string().max(100),
  secret_last4: z.string().max(4).nullable().optional(),
  prefix,
});
export type SecretKept = z.infer<typeof storedSecret>;

/**
 * A new secret in requests. It has at least 8 characters, because shorter secrets can be guessed.
 * Also, Beckon removes secrets from the responses of the API that the tool calls, and removing a
 * short one would also remove ordinary text.
 */
const newSecret = z.strictObject({
  secret: z.string().min(8).max(4_000).regex(printable, "must be printable ASCII"),
  prefix,
});

const text = cleanText(2_000);
const valueError =
  'must be a text, or {"secret": "<8 to 4,000 printable ASCII characters>"}, or a stored secret_id; ' +
  "a text has at most 2,000 characters";
/** A value in a request body: text, a new secret or a stored one. */
const valueInBody = z.union([text, newSecret, storedSecret], { error: valueError });
/** A value in a stored configuration: text or a stored secret. */
const storedValue = z.union([text, storedSecret], { error: valueError });
export type GivenValue = z.infer<typeof valueInBody>;

/** A secret in an exported document: null, or filled in by the user before the import. */
const secretInDocument = z.strictObject({ secret: newSecret.shape.secret.nullable(), prefix });
/**
 * A value in an exported document. It has no `secret_id`, because a stored secret belongs to the
 * exported agent, and an import creates another agent.
 */
const valueInDocument = z.union([text, secretInDocument], {
  error:
    'must be a text, {"secret": null}, or {"secret": "<8 to 4,000 printable ASCII characters>"}; ' +
    "a text has at most 2,000 characters",
});
export type ValueInDocument = z.infer<typeof valueInDocument>;

const headerName = z
  .string()
  .regex(/^[a-zA-Z0-9!#$%&'*+.^_`|~-]{1,100}$/, "must be a valid header name");
const queryName = cleanText(200).min(1);

/** Returns whether a tool can have a header with this name. */
export function isToolHeader(name: string): boolean {
  return headerName.safeParse(name).success && !isReservedHeader(name);
}

/** Returns whether a tool can have a query parameter with this name. */
export function isToolQueryParameter(name: string): boolean {
  return queryName.safeParse(name).success;
}

/**
 * @param isStored whether the tool is stored. Versions of agents are immutable, so defaults and the
 *   `Content-Type` of the whole tool are not checked then: older versions can have any.
 */
function httpTool<Value extends z.ZodType<GivenValue | ValueInDocument>>(
  value: Value,
  { isStored }: { readonly isStored: boolean },
) {
  const headers = boundedRecord(headerName, value, 32, "must have at most 32 headers").default({});
  const query = boundedRecord(queryName, value, 64, "must have at most 64 parameters").default({});
  const operation = z
    .strictObject({
      /** The function name that the model calls. */
      name: toolName,
      /** Tells the model when to use the operation. */
      description: cleanText(4_000).min(1),
      method: z.enum(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]),
      /** `{placeholders}` are allowed in path and query only. */
      url: cleanText(2_000),
      query,
      headers,
      /**
       * Schema of the arguments that the model provides: an object of strings, numbers, booleans
       * or lists of these.
       */
      parameters: valueSchema.default({ type: "object", properties: {} }),
      /**
       * Schema of the body, which the model provides as the argument `body`. Properties with
       * `const` are sent unchanged and not shown to the model. Without this field, no body is sent.
       */
      body: valueSchema.optional(),
      /**
       * How the body is sent. With `form`, it is `application/x-www-form-urlencoded`: its
       * properties must be strings, numbers, booleans or lists of these, and a list repeats its
       * name. Default: `json`.
       */
      body_type: z.enum(["json", "form"]).optional(),
      /**
       * Whether a call whose response was lost can be sent again. Default: true for GET and HEAD,
       * else false.
       */
      safe_to_repeat: z.boolean().optional(),
      /**
       * Header in which the call's idempotency key is sent, the same one on every attempt. Without
       * this field, the key is not sent.
       */
      idempotency_header: headerName.optional(),
    })
    .superRefine((given, context) => addMistakes(context, operationMistakes(given, isStored)))
    .transform((given) => ({
      ...given,
      safe_to_repeat: given.safe_to_repeat ?? (given.method === "GET" || given.method === "HEAD"),
    }));

  return z
    .strictObject({
      type: z.literal("http"),
      name: toolName,
      /** Shown to people, not to the model. */
      description: cleanText(2_000).default(""),
      /** Hosts to which the operations can send requests: `host` or `host:port`, no wildcards. */
      allowed_hosts: z
        .array(
          z
            .string()
            .max(300)
            .refine((host) => parseAllowedHost(host) !== undefined, {
              error: "must be a host or host:port, without scheme, path or wildcard",
              abort: true,
            })
            .transform((host) => parseAllowedHost(host) ?? host),
        )
        .min(1)
        .max(50),
      /** `headers` and `query` are sent with every operation. */
      headers,
      query,
      operations: boundedList(operation).min(1).max(64),
      /** Maximum seconds for one call, including its response body. */
      timeout_seconds: z.number().int().min(1).max(300).default(30),
      /** Maximum bytes of a response body. A longer body is truncated, with a note to the model. */
      max_response_bytes: z.number().int().min(1).max(262_144).default(65_536),
      /** Maximum number of calls of all operations of this tool in one run. */
      max_calls_per_run: z.number().int().min(1).max(1_000).default(100),
    })
    .superRefine((grant, context) => {
      addMistakes(context, grantMistakes(grant));
      if (!isStored) addMistakes(context, contentTypeMistakes(grant));
    });
}

/** An `http` tool in requests. */
export const httpToolBody = httpTool(valueInBody, { isStored: false });
export type HttpToolBody = z.infer<typeof httpToolBody>;

/** An `http` tool in an exported document. */
export const httpToolInDocument = httpTool(valueInDocument, { isStored: false });

/** An `http` tool as it is stored and returned in responses. */
export const httpToolGrant = httpTool(storedValue, { isStored: true });
export type HttpToolGrant = z.infer<typeof httpToolGrant>;
/** One operation that an `http` tool offers to the model. */
export type HttpOperation = HttpToolGrant["operations"][number];

/**
 * The fields of a tool that this file validates. Values that can be secrets are `unknown`, because
 * a secret has a different form in requests, in stored configurations and in exported documents.
 */
interface Grant {
  readonly allowed_hosts: readonly string[];
  readonly headers: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly operations: readonly {
    readonly name: string;
    readonly url: string;
    readonly headers: object;
    readonly query: object;
    readonly body?: unknown;
    readonly body_type?: "json" | "form" | undefined;
    readonly idempotency_header?: string | undefined;
  }[];
}

function* grantMistakes({ allowed_hosts, headers, query, operations }: Grant) {
  const headerNames = new Set<string>();
  for (const [where, values] of Object.entries({ headers, query })) {
    for (const [name, value] of Object.entries(values)) {
      const path = [where, name];
      if (
        typeof value === "string" &&
        (/[{}]/.test(value) || (where === "headers" && !printable.test(value)))
      ) {
        yield {
          path,
          message: "must be fixed printable ASCII: {placeholders} are allowed in operations only",
        };
      }
      if (where === "headers") {
        if (isReservedHeader(name)) yield { path, message: "is set by Beckon" };
        if (headerNames.has(name.toLowerCase())) yield { path, message: "occurs twice" };
        headerNames.add(name.toLowerCase());
      }
      if (!isStorableText(name)) yield { path, message: "is not a valid name" };
    }
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
      if (headerNames.has(name.toLowerCase()))
        yield {
          path: ["operations", index, "headers", name],
          message: "is already set for the whole tool",
        };
    }
    if (
      operation.idempotency_header !== undefined &&
      headerNames.has(operation.idempotency_header.toLowerCase())
    )
      yield {
        path: ["operations", index, "idempotency_header"],
        message: "is already set for the whole tool",
      };
    for (const name of Object.keys(operation.query)) {
      if (Object.hasOwn(query, name))
        yield {
          path: ["operations", index, "query", name],
          message: "is already set for the whole tool",
        };
    }
  }
}

/** Yields a `Content-Type` of the whole tool that is wrong for the body of an operation. */
function* contentTypeMistakes({ headers, operations }: Grant) {
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() !== "content-type" || typeof value !== "string") continue;
    const wrong = operations.find(
      ({ body, body_type = "json" }) =>
        body !== undefined && !bodyTypes[body_type].pattern.test(value),
    );
    if (wrong !== undefined)
      yield {
        path: ["headers", name],
        message: `does not match the body of ${wrong.name}: leave this header out, and Beckon sets it`,
      };
  }
}

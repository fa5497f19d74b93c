import { z } from "zod";
import { graceSeconds } from "./grace-seconds.ts";
import { cleanText } from "./text.ts";

/**
 * Maximum size of a run's input in bytes of UTF-8, and of a request body unless a trigger is set to
 * accept more: 1 MiB.
 */
export const maxInputBytes = 1_048_576;
/** Maximum size of a request body that a trigger can be set to accept: 25 MiB. */
export const maxReceivedBytes = 26_214_400;

/** The name of an HTTP header, in lower case. */
export const headerName = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/, "must be the name of an HTTP header")
  .toLowerCase();
/** The name of a query parameter, or of a field of a form. */
export const parameterName = cleanText(100).min(1);
/** A JSON pointer (RFC 6901) to a field of a JSON or form body. */
const pointer = cleanText(500).regex(/^(?:\/(?:[^~/]|~[01])*)+$/, "must be a JSON pointer");

/** Location of a value in a request: a header, a query parameter, or a field of the body. */
const location = z.union([
  z.strictObject({ header: headerName }),
  z.strictObject({ query: parameterName }),
  z.strictObject({ pointer }),
]);
export type ValueLocation = z.infer<typeof location>;
const locationOrCloudEvents = z.union([location, z.literal("cloudevents")], {
  error:
    'must be {"header": "…"}, {"query": "…"}, {"pointer": "/…"}, "cloudevents" or null; a name ' +
    "has at most 100 characters, a pointer 500",
});

/**
 * A part of the text that is signed. `body`: the body's bytes as they were received. `timestamp`,
 * `id`: the value at the location that the field of this name in the verification gives. `literal`:
 * a fixed text.
 */
const signedPart = z.union(
  [z.enum(["body", "timestamp", "id"]), z.strictObject({ literal: cleanText(20).min(1) })],
  {
    error:
      'must be "body", "timestamp", "id" or {"literal": "…"}; a literal has at most 20 characters',
  },
);

/** An HMAC over parts of the request (RFC 2104). */
const hmacFields = z.strictObject({
  kind: z.literal("hmac"),
  /** The header with the signature. */
  header: headerName,
  algorithm: z.enum(["sha1", "sha256", "sha512"]),
  encoding: z.enum(["hex", "base64"]),
  /** What precedes the signature, such as `sha256=`. */
  prefix: cleanText(50).default(""),
  /**
   * Form of the header. `plain`: one signature after the prefix. `pairs`: `t=…,v1=…`, separated by
   * commas; `prefix` is the name of the signature's pairs, such as `v1`. `list`: signatures
   * separated by spaces, each after the prefix, as in Standard Webhooks. If there are several
   * signatures, one valid one is enough.
   */
  form: z.enum(["plain", "pairs", "list"]).default("plain"),
  /** The parts that are signed, joined without a separator. Must contain `body`. */
  signed: z
    .array(signedPart)
    .min(1)
    .max(10)
    .refine((parts) => parts.includes("body"), "must contain body"),
  /**
   * Location of the time that the sender signed: a Unix time in seconds or milliseconds, or an
   * RFC 3339 time. null: the sender signs no time. `pair` is possible only if `form` is `pairs`,
   * and names a pair of the signature's header, such as `t`. `pointer` locates a time in a JSON or
   * URL-encoded body, which is signed as a whole; it excludes `bodies.gzip` and `bodies.multipart`.
   */
  timestamp: z
    .union(
      [
        z.strictObject({ header: headerName }),
        z.strictObject({ pair: cleanText(20).min(1) }),
        z.strictObject({ pointer }),
      ],
      {
        error:
          'must be {"header": "…"}, {"pair": "…"}, {"pointer": "/…"} or null; a pair has at most ' +
          "20 characters, a pointer 500",
      },
    )
    .nullable()
    .default(null),
  id: z.strictObject({ header: headerName }).nullable().default(null),
  /** How much `timestamp` can differ from the time of arrival, in seconds. */
  tolerance_seconds: z.number().int().min(1).max(86_400).default(300),
  /**
   * How the secret's text is decoded to the bytes with which the HMAC is computed. `whsec`: base64
   * after an optional `whsec_`, as in Standard Webhooks.
   */
  secret_encoding: z.enum(["text", "hex", "base64", "whsec"]).default("text"),
});

const hmacVerification = hmacFields.superRefine((hmac, context) => {
  const reject = (path: string, message: string) =>
    context.addIssue({ code: "custom", path: [path], message });
  const { timestamp, signed, form } = hmac;
  // The time must be signed. Otherwise an attacker could repeat an old request with a new time. A
  // time in the body (`pointer`) is always signed, because the body is.
  const isHeaderOrPair = timestamp !== null && !("pointer" in timestamp);
  if (isHeaderOrPair !== signed.includes("timestamp")) {
    reject("signed", "must contain timestamp if, and only if, timestamp is a header or a pair");
  }
  if ((hmac.id !== null) !== signed.includes("id")) {
    reject("signed", "must contain id if, and only if, id is set");
  }
  if (timestamp !== null && "pair" in timestamp && form !== "pairs") {
    reject("timestamp", "can be a pair only if form is pairs");
  }
  if (form === "pairs" && hmac.prefix === "") {
    reject("prefix", "must be the name of the signature's pairs if form is pairs");
  }
});

/** How a trigger verifies that a request is genuine. */
export const verification = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("none") }),
  hmacVerification,
  /** The header equals the secret, after an optional prefix such as `Bearer `. */
  z.strictObject({
    kind: z.literal("header"),
    header: headerName,
    prefix: cleanText(50).default(""),
  }),
  /** HTTP basic authentication (RFC 7617). The secret is `user:password`. */
  z.strictObject({ kind: z.literal("basic") }),
  /** Twilio's signature over the public URL and the form's fields. Needs the setting PUBLIC_URL. */
  z.strictObject({ kind: z.literal("twilio") }),
]);
export type Verification = z.infer<typeof verification>;
export type HmacVerification = z.infer<typeof hmacVerification>;

/**
 * Returns whether the name of a header suggests that it contains a credential, a secret or a
 * signature. Such headers are not stored, and the agent cannot see them.
 * @param name in lower case.
 */
export function isCredentialHeader(name: string): boolean {
  return credentialNames.test(name) && !publicHeaders.has(name);
}
const credentialNames = new RegExp(
  [
    "signature|secret|passw|hmac|jwt|assertion|cookie|oidc",
    "(?:^|-)(?:auth|authorization|authentication|credentials?|token)(?:$|-)",
    "(?:^|-)(?:api-?|access-|private-|functions-|subscription-)keys?(?:$|-)",
  ].join("|"),
);
/** Headers whose names resemble those of credentials, but which contain no credential. */
const publicHeaders = new Set(["i-twilio-idempotency-token"]);

/** Services whose requests a trigger can be set to accept. */
export const presetName = z.enum([
  "github",
  "gitlab",
  "stripe",
  "slack",
  "shopify",
  "linear",
  "twilio",
  "standard-webhooks",
  "svix",
  "meta",
  "dropbox",
  "cloudevents",
  "hmac",
  "secret-header",
  "basic",
  "none",
]);
export type PresetName = z.infer<typeof presetName>;

/** The response to every accepted request, for forms in web pages. null: the usual JSON. */
const formAnswer = z.union(
  [
    /** Responds with 303 and this address. */
    z.strictObject({
      redirect: cleanText(2_000).refine(
        (text) => URL.parse(text)?.protocol === "https:",
        "must be an https URL",
      ),
    }),
    /** Shows this text on a page without styles and scripts. */
    z.strictObject({ text: cleanText(2_000).min(1) }),
  ],
  {
    error:
      'must be {"redirect": "https://…"}, {"text": "…"} or null; both have at most 2,000 characters',
  },
);

/**
 * Settings for what a trigger accepts, and what the agent sees of it. A trigger whose `receiving`
 * is null accepts any POST of text, JSON or a URL-encoded form, and the agent sees prompt
 * prefix and payload.
 */
export const receiving = z.strictObject({
  /**
   * The preset that the settings come from. If the body that creates or updates a trigger names a
   * preset, the settings that the body omits are those of the preset.
   */
  preset: presetName.nullable().default(null),
  verification: verification.default({ kind: "none" }),
  /** Addresses or CIDR ranges that are allowed to send. null: all. */
  allowed_addresses: z
    .array(
      z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
        error: "must be an IP address or a CIDR range, for example 192.0.2.0/24",
      }),
    )
    .min(1)
    .max(100)
    .nullable()
    .default(null),
  /**
   * Location of the event's id, which stays the same when the sender repeats the event.
   * `cloudevents`: the CloudEvents attributes `source` and `id`, in the headers or the body. null:
   * events have no id. Of the value of a header of credentials or signatures, the hash is stored.
   */
  event_id: locationOrCloudEvents.nullable().default(null),
  /** Days for which an event id is stored to recognize repeated events. */
  event_id_days: z.number().int().min(1).max(30).default(7),
  /**
   * Location of the event's type. The header of a credential or signature is rejected when the
   * settings are saved, because the type is shown.
   */
  event_type: locationOrCloudEvents.nullable().default(null),
  /**
   * Whose handshake the trigger answers. In a handshake, a sender asks before it sends events
   * whether the receiver wants them. `none`: no handshake is answered.
   */
  handshake: z.enum(["none", "meta", "dropbox", "slack", "cloudevents"]).default("none"),
  /**
   * Bodies that are accepted besides text, JSON and forms. `gzip` also allows `deflate`. A
   * compressed body must not exceed `max_bytes` before or after it is inflated.
   */
  bodies: z
    .strictObject({
      multipart: z.boolean().default(false),
      xml: z.boolean().default(false),
      ndjson: z.boolean().default(false),
      csv: z.boolean().default(false),
      gzip: z.boolean().default(false),
      /**
       * In bytes, 1 KiB to 25 MiB. More than 1 MiB needs a `template`, which selects a part of the
       * body, because the input of a run can have at most 1 MiB.
       */
      max_bytes: z.number().int().min(1_024).max(maxReceivedBytes).default(maxInputBytes),
    })
    .prefault({}),
  /** Headers that the agent sees. Headers with credentials or signatures are not allowed. */
  headers: z
    .array(
      headerName.refine(
        (name) => !isCredentialHeader(name),
        "must not be a header of credentials or signatures",
      ),
    )
    .max(50)
    .default([]),
  /** Query parameters that the agent sees. */
  query: z.array(parameterName).max(50).default([]),
  /**
   * A CEL expression (https://cel.dev). A request for which it is false is stored and starts no
   * run. Its variables are those of `template`.
   */
  filter: cleanText(4_000).min(1).nullable().default(null),
  /**
   * A Liquid template (https://liquidjs.com) of the message after the prompt prefix. Its variables:
   * `payload` (parsed JSON or form fields, else text), `headers`, `query` (only the chosen ones),
   * `event` (`id`, `type`), `files`, `received_at`. null: the chosen headers and query parameters
   * as lines, an empty line, and the payload.
   */
  template: cleanText(100_000).min(1).nullable().default(null),
  /**
   * While the agent is paused or a limit is spent: reject requests, or hold their runs until the
   * agent is resumed or the limit resets.
   */
  when_paused: z.enum(["refuse", "hold"]).default("refuse"),
  /** Response of a disabled trigger: 409, or as if the request were accepted. */
  when_disabled: z.enum(["refuse", "swallow"]).default("refuse"),
  /** Maximum requests that one server process accepts in a minute. null: no limit. */
  max_per_minute: z.number().int().min(1).max(100_000).nullable().default(null),
  /** For forms in web pages. */
  form: z
    .strictObject({
      /** Origins whose pages are allowed to send. null: all. */
      origins: z
        .array(
          cleanText(300).refine(
            (text) => URL.parse(text)?.origin === text && /^https?:/.test(text),
            "must be an origin such as https://example.com",
          ),
        )
        .min(1)
        .max(50)
        .nullable()
        .default(null),
      /**
       * A field that people do not see, so that only bots fill it in. If it has a value, the
       * request is accepted and starts no run.
       */
      honeypot: parameterName.nullable().default(null),
      answer: formAnswer.nullable().default(null),
    })
    .prefault({}),
});
export type Receiving = z.infer<typeof receiving>;

/**
 * The secret that a sender shares with a trigger: 1 to 500 characters of printable ASCII, without a
 * space at the beginning or end. Its form depends on the kind of verification: for `basic` it is
 * `user:password`.
 */
export const senderSecret = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/, "must be printable ASCII");

/** Body of `POST …/triggers/:trigger_id/secret`. */
export const setSenderSecretBody = z.strictObject({
  secret: senderSecret.optional().meta({
    description:
      "If absent, one is generated. With only `verify_token`, the stored secret is kept instead.",
  }),
  verify_token: senderSecret.optional().meta({
    description:
      "Meta's verify token. If absent, the stored one is kept, or one is generated for Meta.",
  }),
  grace_seconds: graceSeconds.default(0).meta({
    description:
      "For how long the secret that is replaced is also accepted, in seconds. If `secret` is the stored one, nothing is replaced; only 0 then ends an earlier grace period.",
  }),
});

/** Response of the routes that set or reveal the secret. */
export const senderSecrets = z.object({
  secret: z.string(),
  /** null unless the handshake is Meta's. */
  verify_token: z.string().nullable(),
  /** Time until which the previous secret is also accepted; null if there is no previous secret. */
  previous_until: z.iso.datetime().nullable(),
});
export type SenderSecrets = z.infer<typeof senderSecrets>;

/** An example request of a preset. */
const exampleRequest = z.object({
  name: z.string(),
  query: z.record(z.string(), z.string()),
  headers: z.record(z.string(), z.string()),
  body: z.string(),
});
export type ExampleRequest = z.infer<typeof exampleRequest>;

/** A preset in responses. */
export const preset = z.object({
  name: presetName,
  title: z.string(),
  /** One sentence: where in the sender's settings the URL and the secret are entered. */
  instructions: z.string(),
  /** The sender's documentation. */
  url: z.string().nullable(),
  /**
   * Where the secret comes from. `sender`: the sender shows it, and a member enters it in Beckon.
   * `receiver`: Beckon generates it or a member chooses it, and it is entered at the sender.
   * `none`: there is no secret.
   */
  secret_from: z.enum(["sender", "receiver", "none"]),
  receiving,
  examples: z.array(exampleRequest),
});
export type Preset = z.infer<typeof preset>;

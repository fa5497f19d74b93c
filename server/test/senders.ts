import { createHash, createHmac } from "node:crypto";
import { createRequire } from "node:module";
import type { ExampleRequest, PresetName } from "@beckon/contract";
import { sign as signAsGithub } from "@octokit/webhooks-methods";
import { CloudEvent, HTTP } from "cloudevents";
import { Webhook as StandardWebhook } from "standardwebhooks";
import Stripe from "stripe";
import { Webhook as SvixWebhook } from "svix";
import twilio from "twilio/lib/webhooks/webhooks.js";
import { presets } from "../src/receiving/index.ts";

/** A service that sends events to triggers, such as GitHub, as the tests imitate it. */
export interface Sender {
  /** Name for test titles. In parentheses: the service's own package, which signs the requests. */
  readonly name: string;
  readonly preset: PresetName;
  readonly secret: string;
  /** Names of the headers with the signature or, if the service does not sign, the secret. */
  readonly signatureHeaders: readonly string[];
  /**
   * What the signature covers: the body or, with `time`, the body and the time at which it was
   * sent. `nothing`: there is no signature.
   */
  readonly signs: "body" | "time" | "nothing";
  /** Returns a signed request to `url`. The caller sends it. */
  readonly send: (to: {
    readonly url: string;
    readonly secret: string;
    readonly sentAt: Date;
    /** Id of the event, if the service sends one; the same in every request for this event. */
    readonly eventId: string;
  }) => Promise<SentRequest> | SentRequest;
}

export interface SentRequest {
  /** Text to append to the URL, with its leading `?`; "" if there is none. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns the example of a preset with this name; the first one if `name` is undefined. */
export function exampleOf(preset: PresetName, name?: string): ExampleRequest {
  const example = presets
    .find((each) => each.name === preset)
    ?.examples.find((each) => name === undefined || each.name === name);
  if (example === undefined) throw new Error(`The preset ${preset} has no example ${name}`);
  return example;
}

const whsec = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
const unixTime = (date: Date) => Math.floor(date.getTime() / 1_000);
const withHeader = (
  { headers, body }: ExampleRequest,
  more: Record<string, string>,
  sentBody = body,
): SentRequest => ({ query: "", headers: { ...headers, ...more }, body: sentBody });
const withField = (body: string, field: string, value: unknown) =>
  JSON.stringify({ ...JSON.parse(body), [field]: value });
const hmac = (
  secret: string,
  body: string,
  encoding: "hex" | "base64" = "hex",
  algorithm = "sha256",
) => createHmac(algorithm, secret).update(body).digest(encoding);

/**
 * The services for which there are presets. Requests are signed with the service's own package if
 * it has one, else as its documentation says.
 */
export const senders: readonly Sender[] = [
  {
    name: "GitHub (@octokit/webhooks-methods)",
    preset: "github",
    secret: "It's a Secret to Everybody",
    signatureHeaders: ["x-hub-signature-256"],
    signs: "body",
    send: async ({ secret, eventId }) => {
      const example = exampleOf("github");
      return withHeader(example, {
        "x-github-delivery": eventId,
        "x-hub-signature-256": await signAsGithub(secret, example.body),
      });
    },
  },
  {
    name: "GitLab",
    preset: "gitlab",
    secret: "gitlab-secret-token",
    signatureHeaders: ["x-gitlab-token"],
    signs: "nothing",
    send: ({ secret, eventId }) =>
      withHeader(exampleOf("gitlab"), { "x-gitlab-token": secret, "idempotency-key": eventId }),
  },
  {
    name: "Stripe (stripe)",
    preset: "stripe",
    secret: "whsec_test_0123456789abcdef",
    signatureHeaders: ["stripe-signature"],
    signs: "time",
    send: ({ secret, sentAt, eventId }) => {
      const example = exampleOf("stripe");
      const payload = withField(example.body, "id", eventId);
      const header = new Stripe("sk_test_x").webhooks.generateTestHeaderString({
        payload,
        secret,
        timestamp: unixTime(sentAt),
      });
      return withHeader(example, { "stripe-signature": header }, payload);
    },
  },
  {
    name: "Slack",
    preset: "slack",
    secret: "8f742231b10e8888abcd99yyyzzz85a5",
    signatureHeaders: ["x-slack-signature"],
    signs: "time",
    send: ({ secret, sentAt, eventId }) => {
      const example = exampleOf("slack");
      const body = withField(example.body, "event_id", eventId);
      const timestamp = String(unixTime(sentAt));
      return withHeader(
        example,
        {
          "x-slack-request-timestamp": timestamp,
          "x-slack-signature": `v0=${hmac(secret, `v0:${timestamp}:${body}`)}`,
        },
        body,
      );
    },
  },
  {
    name: "Shopify",
    preset: "shopify",
    secret: "shpss_0123456789abcdef",
    signatureHeaders: ["x-shopify-hmac-sha256"],
    signs: "body",
    send: ({ secret, eventId }) => {
      const example = exampleOf("shopify");
      return withHeader(example, {
        "x-shopify-webhook-id": eventId,
        "x-shopify-hmac-sha256": hmac(secret, example.body, "base64"),
      });
    },
  },
  {
    name: "Linear",
    preset: "linear",
    secret: "lin_wh_0123456789abcdef",
    signatureHeaders: ["linear-signature"],
    signs: "time",
    send: ({ secret, sentAt, eventId }) => {
      const example = exampleOf("linear");
      const body = withField(example.body, "webhookTimestamp", sentAt.getTime());
      return withHeader(
        example,
        { "linear-delivery": eventId, "linear-signature": hmac(secret, body) },
        body,
      );
    },
  },
  twilioForm("Twilio, a form (twilio)"),
  twilioForm("Twilio with a SharedKey, a form (twilio)", {
    "x-twilio-webhooks-signature-settings": "key=webhooks_sharedkey_1,algorithm=HMAC_SHA256",
  }),
  {
    name: "Twilio, JSON (twilio)",
    preset: "twilio",
    secret: "12345678901234567890123456789012",
    signatureHeaders: ["x-twilio-signature"],
    signs: "body",
    send: ({ url, secret, eventId }) => {
      const body = '{"event":"call.completed","name":"Zoë"}';
      const query = `?bodySHA256=${createHash("sha256").update(body).digest("hex")}`;
      return {
        query,
        headers: {
          "content-type": "application/json",
          "i-twilio-idempotency-token": eventId,
          "x-twilio-signature": twilio.getExpectedTwilioSignature(secret, url + query, {}),
        },
        body,
      };
    },
  },
  {
    name: "Standard Webhooks (standardwebhooks)",
    preset: "standard-webhooks",
    secret: whsec,
    signatureHeaders: ["webhook-signature"],
    signs: "time",
    send: ({ secret, sentAt, eventId }) => {
      const example = exampleOf("standard-webhooks");
      return withHeader(example, {
        "webhook-id": eventId,
        "webhook-timestamp": String(unixTime(sentAt)),
        "webhook-signature": new StandardWebhook(secret).sign(eventId, sentAt, example.body),
      });
    },
  },
  {
    name: "Svix (svix)",
    preset: "svix",
    secret: whsec,
    signatureHeaders: ["svix-signature"],
    signs: "time",
    send: ({ secret, sentAt, eventId }) => {
      const example = exampleOf("svix");
      return withHeader(example, {
        "svix-id": eventId,
        "svix-timestamp": String(unixTime(sentAt)),
        "svix-signature": new SvixWebhook(secret).sign(eventId, sentAt, example.body),
      });
    },
  },
  {
    name: "Meta",
    preset: "meta",
    secret: "0123456789abcdef0123456789abcdef",
    signatureHeaders: ["x-hub-signature-256"],
    signs: "body",
    send: ({ secret }) => {
      // Meta escapes characters outside ASCII, and signs the bytes that it sends.
      const example = exampleOf("meta");
      const body = example.body.replace("Sheena", "Sh\\u00e9ena");
      return withHeader(example, { "x-hub-signature-256": `sha256=${hmac(secret, body)}` }, body);
    },
  },
  {
    name: "Dropbox",
    preset: "dropbox",
    secret: "dropboxappsecret",
    signatureHeaders: ["x-dropbox-signature"],
    signs: "body",
    send: ({ secret }) => {
      const example = exampleOf("dropbox");
      return withHeader(example, { "x-dropbox-signature": hmac(secret, example.body) });
    },
  },
  {
    name: "HMAC",
    preset: "hmac",
    secret: "a secret with spaces",
    signatureHeaders: ["x-signature"],
    signs: "body",
    send: ({ secret }) => {
      const example = exampleOf("hmac");
      return withHeader(example, { "x-signature": hmac(secret, example.body) });
    },
  },
  {
    name: "a secret header",
    preset: "secret-header",
    secret: "bearer-secret",
    signatureHeaders: ["authorization"],
    signs: "nothing",
    send: ({ secret }) =>
      withHeader(exampleOf("secret-header"), { authorization: `Bearer ${secret}` }),
  },
  {
    name: "basic authentication",
    preset: "basic",
    secret: "user:pass:word",
    signatureHeaders: ["authorization"],
    signs: "nothing",
    send: ({ secret }) =>
      withHeader(exampleOf("basic"), {
        authorization: `Basic ${Buffer.from(secret).toString("base64")}`,
      }),
  },
];

/** Returns a CloudEvent as the SDK of CloudEvents sends it. */
export function cloudEvent(mode: "binary" | "structured", id: string): SentRequest {
  const event = new CloudEvent({
    id,
    type: "com.example.order.created",
    source: "/orders/north%20sea",
    data: { order: 123 },
  });
  const { headers, body } = mode === "binary" ? HTTP.binary(event) : HTTP.structured(event);
  return {
    query: "",
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
    ),
    body: String(body),
  };
}

/** An event that GitHub sends, and the payloads that its documentation shows. */
export interface GithubEvent {
  readonly name: string;
  readonly examples: readonly Record<string, unknown>[];
}

/** All payloads of `@octokit/webhooks-examples`. */
export function githubEvents(): readonly GithubEvent[] {
  // `require` and not `import`, for which TypeScript would infer the types of 8 MB of JSON.
  const require = createRequire(import.meta.url);
  return require("@octokit/webhooks-examples");
}

/** @param settings the header that names another algorithm than HMAC-SHA1 */
function twilioForm(name: string, settings: Record<string, string> = {}): Sender {
  const [algorithm] = Object.values(settings).map((each) => twilio.getSignatureAlgorithm(each));
  return {
    name,
    preset: "twilio",
    secret: "12345678901234567890123456789012",
    signatureHeaders: ["x-twilio-signature", ...Object.keys(settings)],
    signs: "body",
    send: ({ url, secret, eventId }) => {
      const example = exampleOf("twilio");
      const fields = Object.fromEntries(new URLSearchParams(example.body));
      return withHeader(example, {
        "i-twilio-idempotency-token": eventId,
        "x-twilio-signature": twilio.getExpectedTwilioSignature(secret, url, fields, algorithm),
        ...settings,
      });
    },
  };
}

import type { Receiving } from "@beckon/contract";
import { tryParseJson } from "../base/json/index.ts";
import { equalTexts } from "../base/secrets/index.ts";
import { headerOf, mediaTypeOf, queryOf, type RawRequest } from "./raw-request.ts";

/** The response to a handshake. */
export interface HandshakeAnswer {
  readonly status: 200;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Challenges are sent back to the client. They must not contain characters such as `<`, so that no
 * browser can interpret them as HTML.
 */
const challengeForm = /^[\w.-]{1,256}$/;

/**
 * Returns the response to a handshake, by which a sender asks whether the trigger's owner wants the
 * sender's events. Returns undefined if the request is no handshake, or not one of the kind that
 * the trigger answers.
 *
 * Slack's handshake is a signed POST: verify its signature before you call this function.
 * @param verifyToken the token that Meta sends; without one, Meta's handshake is not answered.
 */
export function answerHandshake(
  settings: Pick<Receiving, "handshake" | "max_per_minute">,
  { verifyToken }: { readonly verifyToken: string | null },
  request: RawRequest,
): HandshakeAnswer | undefined {
  const { method } = request;
  switch (settings.handshake) {
    case "none":
      return undefined;
    case "meta":
      return method === "GET" ? answerMeta(verifyToken, queryOf(request)) : undefined;
    case "dropbox":
      return method === "GET" ? echo(queryOf(request).get("challenge")) : undefined;
    case "slack":
      return method === "POST" ? echo(slackChallenge(request)) : undefined;
    case "cloudevents":
      return method === "OPTIONS" ? allowOrigin(settings, request) : undefined;
  }
}

/** @see https://developers.facebook.com/docs/graph-api/webhooks/getting-started */
function answerMeta(
  verifyToken: string | null,
  query: URLSearchParams,
): HandshakeAnswer | undefined {
  const given = query.get("hub.verify_token");
  if (!verifyToken || given === null || query.get("hub.mode") !== "subscribe") return undefined;
  return equalTexts(given, verifyToken) ? echo(query.get("hub.challenge")) : undefined;
}

/** @see https://docs.slack.dev/reference/events/url_verification */
function slackChallenge(request: RawRequest): unknown {
  // A handshake is small, because its challenge has at most 256 characters. A larger body is an
  // event and is not parsed here.
  if (request.body.length > 4_096) return undefined;
  if (mediaTypeOf(headerOf(request, "content-type")) !== "application/json") return undefined;
  const { type, challenge } = Object(tryParseJson(request.body.toString("utf8")));
  return type === "url_verification" ? challenge : undefined;
}

function echo(challenge: unknown): HandshakeAnswer | undefined {
  if (typeof challenge !== "string" || !challengeForm.test(challenge)) return undefined;
  return {
    status: 200,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    },
    body: challenge,
  };
}

/**
 * Allows a sender of CloudEvents to send. The sender can ask for a rate in requests per minute; the
 * response grants at most the trigger's limit.
 * @see https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/http-webhook.md, section 4
 */
function allowOrigin(
  { max_per_minute }: Pick<Receiving, "max_per_minute">,
  request: RawRequest,
): HandshakeAnswer | undefined {
  const origin = headerOf(request, "webhook-request-origin");
  if (origin === undefined || !/^[\w.:*/-]{1,256}$/.test(origin)) return undefined;
  const asked = headerOf(request, "webhook-request-rate");
  const rate = allowedRate(asked, max_per_minute);
  return {
    status: 200,
    headers: {
      allow: "POST, OPTIONS",
      "webhook-allowed-origin": origin,
      ...(rate === undefined ? {} : { "webhook-allowed-rate": rate }),
    },
    body: "",
  };
}

function allowedRate(asked: string | undefined, maxPerMinute: number | null): string | undefined {
  if (asked === undefined) return maxPerMinute === null ? undefined : String(maxPerMinute);
  const rate = /^[1-9]\d{0,8}$/.test(asked) ? Number(asked) : undefined;
  if (maxPerMinute === null) return rate === undefined ? "*" : String(rate);
  return String(Math.min(rate ?? maxPerMinute, maxPerMinute));
}

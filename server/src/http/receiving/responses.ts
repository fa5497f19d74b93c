import type { PresetName, Receiving } from "@beckon/contract";
import { formType, mediaTypeOf } from "../../receiving/index.ts";
import { escapeHtml } from "../escape-html.ts";
import { requestIdHeader } from "../request/index.ts";
import type { ReceivedCall } from "./received-call.ts";

type Answered = Pick<ReceivedCall, "acceptsJson" | "arrival">;
type ResponseSettings = Pick<Receiving, "form" | "preset" | "verification">;

/**
 * CORS headers of every response of the route that fires a trigger. Pages of any origin can fire a
 * trigger, because the URL is the only credential and browsers send no cookie with the request.
 */
export const fireCors: Readonly<Record<string, string>> = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": `${requestIdHeader}, idempotency-replayed, retry-after`,
};

/** Senders that count every status but 200 as a failure, and then send the request again. */
const sendersNeeding200: readonly (PresetName | null)[] = ["dropbox", "linear", "meta"];

/** The presets whose senders need the status 200, as a list in the API documentation. */
export const presetsNeeding200 = new Intl.ListFormat("en-GB").format(
  sendersNeeding200.map((preset) => `\`${preset}\``),
);

/** Returns the response to an event whose run was started or held, or was started before. */
export function runResponse(
  call: Answered,
  settings: ResponseSettings,
  { runId, replayed }: { readonly runId: string; readonly replayed: boolean },
): Response {
  return (
    formResponse(call, settings.form.answer) ??
    senderResponse(call, settings) ??
    json(200, { ok: true, run_id: runId }, replayed ? { "idempotency-replayed": "true" } : {})
  );
}

/** Returns the response to a request that was accepted and starts no run. */
export function skippedResponse(call: Answered, settings: ResponseSettings): Response {
  const status = sendersNeeding200.includes(settings.preset) ? 200 : 202;
  return (
    formResponse(call, settings.form.answer) ??
    senderResponse(call, settings) ??
    json(status, { ok: true, skipped: true })
  );
}

/**
 * Returns the response to Twilio or Slack, which use its body; undefined if the response is JSON.
 */
function senderResponse(
  { acceptsJson, arrival }: Answered,
  { preset, verification }: ResponseSettings,
): Response | undefined {
  // For an incoming message or call, Twilio executes the body as TwiML. It reports the error 12300
  // if the body has another type.
  if (verification.kind === "twilio" && !acceptsJson)
    return new Response('<?xml version="1.0" encoding="UTF-8"?><Response/>', {
      headers: { ...fireCors, "content-type": "text/xml" },
    });
  // Slack sends slash commands and interactions as forms, and shows the body to the user. It names
  // `application/json` in `Accept`, so `acceptsJson` is not checked.
  if (preset === "slack" && mediaTypeOf(arrival.contentType ?? undefined) === formType)
    return new Response(null, { headers: fireCors });
  return undefined;
}

function json(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...fireCors, ...headers },
  });
}

/**
 * Returns the trigger's response to a browser form; undefined if the response is JSON. The form's
 * URL contains the trigger's token, so the browser must not send this URL as the referrer.
 */
function formResponse(
  { acceptsJson }: Answered,
  answer: Receiving["form"]["answer"],
): Response | undefined {
  if (answer === null || acceptsJson) return undefined;
  const safe = { ...fireCors, "referrer-policy": "no-referrer", "cache-control": "no-store" };
  if ("redirect" in answer)
    return new Response(null, {
      status: 303,
      headers: { ...safe, location: encoded(answer.redirect) },
    });
  return new Response(textPage(answer.text), {
    status: 200,
    headers: {
      ...safe,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
    },
  });
}

/** Returns the URL in ASCII, as a header needs it. */
function encoded(url: string): string {
  return new URL(url).href;
}

function textPage(text: string): string {
  const escaped = escapeHtml(text);
  return `<!doctype html>
<html>
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped
    .split("\n", 1)
    .join()}</title></head>
<body><p>${escaped.replaceAll("\n", "<br>\n")}</p></body>
</html>
`;
}

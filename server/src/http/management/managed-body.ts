import type { IncomingMessage } from "node:http";
import { ApiError, attempt } from "../../base/errors.ts";
import { fieldOf, isJsonObject, parseJson } from "../../base/json/index.ts";
import type { UnparsedBody } from "../../base/parse.ts";
import { YamlText } from "../../base/yaml/index.ts";
import { mediaTypeOf } from "../../receiving/index.ts";
import { bodyText, headerOf, type RawBody } from "../request/index.ts";
import type { RouteDoc } from "./route-doc.ts";

/**
 * Decodes a JSON body. If the route accepts YAML, a YAML body is returned as `YamlText`, and the
 * operation parses it. The value is undefined if the body is empty or `raw` is undefined.
 * @param raw undefined for a GET, whose body is not read
 */
export function managedBody(
  raw: RawBody | undefined,
  incoming: IncomingMessage,
  doc: RouteDoc,
): UnparsedBody {
  if (raw === undefined) return { ok: true, value: undefined };
  return raw.ok ? attempt(() => decode(raw.value, incoming, doc)) : raw;
}

function decode(bytes: Buffer, incoming: IncomingMessage, doc: RouteDoc): unknown {
  if (bytes.length === 0) return undefined;
  const type = mediaTypeOf(headerOf(incoming, "content-type"));
  if (/^[^/]+\/(.+\+)?json$/.test(type))
    return (doc.exactPayload ? parseWithPayload : parseJson)(bodyText(incoming, bytes));
  if (doc.yaml && /^(application|text)\/(x-)?yaml$/.test(type))
    return new YamlText(bodyText(incoming, bytes));
  throw new ApiError(
    "unsupported_type",
    doc.yaml
      ? "The body must be JSON or YAML. Send it with Content-Type: application/json or application/yaml."
      : "The body must be JSON. Send it with Content-Type: application/json.",
  );
}

/**
 * Parses a JSON body and keeps the integers in its fields `payload` and `request.payload` exact, as
 * raw numbers. All other fields have ordinary numbers, because their schemas do not accept raw
 * numbers. The text is parsed twice, but both results are in memory only until this function
 * returns. So only one of them is counted against the memory budget (`heldPerByte`).
 */
function parseWithPayload(text: string): unknown {
  const body = parseJson(text);
  const exact = parseJson(text, true);
  for (const [rounded, kept] of [
    [body, exact],
    [fieldOf(body, "request"), fieldOf(exact, "request")],
  ])
    if (isJsonObject(rounded) && "payload" in rounded) rounded.payload = fieldOf(kept, "payload");
  return body;
}

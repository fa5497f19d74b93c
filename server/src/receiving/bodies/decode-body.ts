import type { Receiving } from "@beckon/contract";
import { ApiError } from "../../base/errors.ts";
import { isNestedDeeper, parseJson } from "../../base/json/index.ts";
import { headerOf, mediaTypeOf, type RawRequest } from "../raw-request.ts";
import { formAsJson, type HoldBytes, tooLarge, tooManyBodies } from "./body-limits.ts";
import { encodedBody, encodingOf } from "./content-encoding.ts";
import { maxFormFields, urlEncodedFields } from "./form-fields.ts";
import { inflate } from "./inflate.ts";
import { type ReceivedFile, readMultipart } from "./multipart.ts";
import { textOf } from "./text-of.ts";
import { formType, isJsonType, isTextType } from "./to-payload.ts";

/** A decoded body, as the agent, the filter and the template see it. */
export interface DecodedBody {
  /** Parsed JSON, the fields of a form, or else the text. */
  readonly payload: unknown;
  /** What the agent sees if the trigger has no message template. */
  readonly text: string;
  readonly files: readonly ReceivedFile[];
}

type Bodies = Receiving["bodies"];

/** Maximum levels of arrays and objects in a JSON body. */
const maxLevels = 200;

/**
 * Decodes the body of a request according to its Content-Encoding and Content-Type.
 * @param hold reserves memory for the bytes that decoding adds: those of an inflated body, and the
 *   additional bytes of a form that is longer as JSON.
 * @throws ApiError `unsupported_type` if the trigger is not set to accept such a body, `too_large`,
 *   `unavailable`, `bad_request` if the body is not what its headers say, or has too many fields,
 *   files or levels.
 */
export async function decodeBody(
  { bodies, template }: Pick<Receiving, "bodies" | "template">,
  request: RawRequest,
  hold: HoldBytes,
): Promise<DecodedBody> {
  if (request.body.length > bodies.max_bytes) throw tooLarge(bodies.max_bytes);
  const bytes = await identityOf(bodies, request, hold);
  const contentType = headerOf(request, "content-type");
  const type = mediaTypeOf(contentType);
  // JSON first, because `text/json` is also a type of text.
  if (isJsonType(type)) return ofJson(textOf(bytes));
  if (isTextType(type) || isOpaqueType(type, bodies)) return ofText(textOf(bytes));
  /** Returns the fields as JSON. If it is longer than the body, `hold` reserves the difference. */
  const asJson = (fields: object) => {
    const text = formAsJson(fields, { isInput: template === null });
    if (text.length > bytes.length && !hold(text.length - bytes.length)) throw tooManyBodies();
    return text;
  };
  if (type === formType) return ofForm(textOf(bytes), contentType, asJson);
  if (type === "multipart/form-data" && bodies.multipart) {
    const { fields, files } = await readMultipart(bytes, contentType ?? "");
    return { payload: fields, text: asJson(fields), files };
  }
  throw new ApiError(
    "unsupported_type",
    `This trigger does not accept ${type}. Send ${acceptedBodies(bodies)}.`,
  );
}

/** Returns the body without its Content-Encoding. */
async function identityOf(
  { gzip, max_bytes: maxBytes }: Bodies,
  request: RawRequest,
  hold: HoldBytes,
): Promise<Buffer> {
  const encoding = encodingOf(headerOf(request, "content-encoding"));
  if (encoding === undefined) return request.body;
  if (!gzip) throw encodedBody();
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return inflate(request.body, "gzip", { maxBytes, hold });
    case "deflate":
      return inflate(request.body, "deflate", { maxBytes, hold });
    default:
      throw new ApiError(
        "unsupported_type",
        "This trigger accepts the Content-Encodings gzip and deflate. Use one of them, once.",
      );
  }
}

/**
 * Returns whether the type is XML, NDJSON or CSV, and the trigger accepts it. Such bodies are not
 * parsed.
 */
function isOpaqueType(type: string, { xml, ndjson, csv }: Bodies): boolean {
  if (/^application\/(.+\+)?xml$/.test(type)) return xml;
  if (/^application\/(x-)?(ndjson|jsonl|jsonlines|json-lines)$/.test(type)) return ndjson;
  return type === "application/csv" && csv;
}

function ofText(text: string): DecodedBody {
  return { payload: text, text, files: [] };
}

function ofJson(text: string): DecodedBody {
  if (text === "") return ofText(text);
  if (isNestedDeeper(text, maxLevels))
    throw new ApiError(
      "bad_request",
      `The JSON is nested more than ${maxLevels} levels deep. Send it flatter.`,
    );
  return { payload: parseJson(text), text, files: [] };
}

function ofForm(
  text: string,
  contentType: string | undefined,
  asJson: (fields: object) => string,
): DecodedBody {
  const fields = urlEncodedFields(text, { contentType, maxFields: maxFormFields });
  if (fields !== undefined) return { payload: fields, text: asJson(fields), files: [] };
  try {
    return ofJson(text);
  } catch {
    return ofText(text);
  }
}

function acceptedBodies({ multipart, xml, ndjson, csv }: Bodies): string {
  const kinds = ["JSON", "text", "a URL-encoded form"];
  if (multipart) kinds.push("multipart/form-data");
  if (xml) kinds.push("XML");
  if (ndjson) kinds.push("NDJSON");
  if (csv) kinds.push("CSV");
  return `${kinds.slice(0, -1).join(", ")} or ${kinds.at(-1)}`;
}

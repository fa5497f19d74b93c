import { Refusal } from "../../base/errors.ts";
import { YamlText } from "../../base/yaml/index.ts";
import { jsonOf, type RawBody, textOf } from "../request/index.ts";
import type { RouteDoc } from "./route-doc.ts";

/**
 * The body as JSON, or not read yet as YAML where the route says that it takes it. Undefined when there is none; a refusal instead of
 * throwing it, since other refusals come first.
 */
export function managedBody(raw: RawBody, contentType: string | undefined, doc: RouteDoc): unknown {
  if (!raw.ok) return raw.refusal;
  if (raw.value.length === 0) return undefined;
  const type = contentType?.split(";")[0]?.trim().toLowerCase() ?? "";
  try {
    if (/^[^/]+\/(.+\+)?json$/.test(type)) return jsonOf(textOf(raw.value));
    if (doc.yaml && /^(application|text)\/(x-)?yaml$/.test(type)) return new YamlText(textOf(raw.value));
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown;
    throw thrown;
  }
  return new Refusal(
    "unsupported_type",
    doc.yaml
      ? "The body must be JSON or YAML. Send it with Content-Type: application/json or application/yaml."
      : "The body must be JSON. Send it with Content-Type: application/json.",
  );
}

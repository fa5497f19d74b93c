import { mediaTypeOf } from "../../receiving/index.ts";
import { type Artifact, maxPartBytes } from "../../runs/index.ts";
import type { StreamedResult } from "./render.ts";

/**
 * The media types with which artifacts are sent, and the file extension of each. A browser executes
 * no script in a file of these types. SVG images are missing because they can contain scripts.
 */
const extensions: ReadonlyMap<string, string> = new Map([
  ["application/json", "json"],
  ["text/plain", "txt"],
  ["image/avif", "avif"],
  ["image/gif", "gif"],
  ["image/jpeg", "jpg"],
  ["image/png", "png"],
  ["image/webp", "webp"],
]);

/**
 * Returns an artifact as a file. Models and tools write artifacts, so their media types are not
 * trusted: a type that is not in `extensions` is sent as `application/octet-stream`. The file is
 * named after the artifact's id.
 */
export function artifactFile({ id, mediaType, bytes, content }: Artifact): StreamedResult {
  const stored = mediaTypeOf(mediaType);
  const extension = extensions.get(stored) ?? "bin";
  const safe = extension === "bin" ? "application/octet-stream" : stored;
  const type = safe === "text/plain" ? "text/plain; charset=utf-8" : safe;
  const name = `${id.replaceAll(/[^a-zA-Z0-9_-]/g, "_")}.${extension}`;
  return { file: { name, type, content, bytes, heldBytes: () => Math.min(bytes, maxPartBytes) } };
}

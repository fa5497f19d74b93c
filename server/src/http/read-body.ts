import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Refusal } from "../base/errors.ts";

/** Bytes of a request body, at most: 1 MiB. */
const maxBodyBytes = 1_048_576;

/** The raw bytes, or why they were not read. A body that is too large is not read on: the answer closes the connection. */
export type RawBody = { readonly bytes: Buffer; readonly refusal?: undefined } | { readonly bytes?: undefined; readonly refusal: Refusal };

/** Reads the body up to the limit. Rejects only if the caller goes away before it is complete. */
export function readBody(incoming: IncomingMessage): Promise<RawBody> {
  const declared = Number(incoming.headers["content-length"] ?? 0);
  if (declared > maxBodyBytes) return Promise.resolve({ refusal: tooLarge() });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBodyBytes) {
        incoming.pause();
        resolve({ refusal: tooLarge() });
      } else chunks.push(chunk);
    });
    incoming.on("end", () => resolve({ bytes: chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks) }));
    incoming.on("error", reject);
    incoming.on("close", () => reject(new Refusal("bad_request", "The request ended before its body was complete.")));
  });
}

/** What an Idempotency-Key is bound to. */
export function hashBody(body: RawBody): Buffer | Refusal {
  return body.bytes === undefined ? body.refusal : createHash("sha256").update(body.bytes).digest();
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The body as text, unchanged. @throws Refusal `bad_request` for what is not UTF-8, and for NUL, which cannot be stored. */
export function textOf(bytes: Buffer): string {
  if (bytes.includes(0))
    throw new Refusal("bad_request", "The body contains a NUL byte (0x00), which text cannot hold. Send text without it.");
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Refusal("bad_request", "The body is not valid UTF-8. Send text encoded as UTF-8.");
  }
}

/** @throws Refusal `bad_request` that says where the text stops being JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    const where =
      thrown instanceof Error ? /at position \d+( \(line \d+ column \d+\))?|end of JSON input/.exec(thrown.message)?.[0] : undefined;
    throw new Refusal("bad_request", `The body is not valid JSON${where === undefined ? "" : `: it breaks off or goes wrong ${where}`}.`);
  }
}

function tooLarge(): Refusal {
  return new Refusal(
    "too_large",
    `The body is larger than ${maxBodyBytes.toLocaleString("en")} bytes (1 MiB). Send less, or a link to it.`,
  );
}

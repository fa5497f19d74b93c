import { createHash, timingSafeEqual } from "node:crypto";

/**
 * Returns whether two texts are equal, in a time that depends only on their lengths. They are
 * hashed first because `timingSafeEqual` rejects buffers of different lengths, and comparing the
 * lengths would reveal the length of a secret.
 */
export function equalTexts(a: string, b: string): boolean {
  return timingSafeEqual(hash(a), hash(b));
}

function hash(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

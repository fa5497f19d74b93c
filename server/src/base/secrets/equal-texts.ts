import { createHash, timingSafeEqual } from "node:crypto";

/**
 * Returns whether two texts are equal. The duration does not reveal how much of a guessed secret is
 * right. The texts are hashed first, because `timingSafeEqual` throws if their lengths differ.
 */
export function equalTexts(a: string, b: string): boolean {
  return timingSafeEqual(hash(a), hash(b));
}

function hash(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

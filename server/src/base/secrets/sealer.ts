import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { Refusal } from "../errors.ts";

/**
 * Seals secrets that must be shown or used again: AES-256-GCM under the master key, which is kept outside the database.
 * A sealed text is `v1.<key id>.<nonce>.<ciphertext and tag>` in base64url, bound to a place (workspace, kind and row): moved
 * elsewhere, it does not open.
 */
export interface Sealer {
  seal(secret: string, place: Place): string;
  /** @throws Refusal `secret_unreadable` when another key sealed it, or it was moved or altered. */
  open(sealed: string, place: Place): string;
}

export interface Place {
  readonly workspaceId: string;
  /** What it is, for example `token`. */
  readonly kind: string;
  /** The row it belongs to. */
  readonly row: string;
}

/** Bytes. */
const authTagLength = 16;

export function createSealer(masterKey: Buffer): Sealer {
  if (masterKey.length !== 32) throw new Error("a master key is 32 bytes");
  const keyId = createHash("sha256").update("beckon key id").update(masterKey).digest("hex").slice(0, 8);
  const bound = (place: Place) => Buffer.from(JSON.stringify(["v1", keyId, place.workspaceId, place.kind, place.row]));
  return {
    seal(secret, place) {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", masterKey, nonce, { authTagLength }).setAAD(bound(place));
      const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
      return ["v1", keyId, nonce.toString("base64url"), text.toString("base64url")].join(".");
    },
    open(sealed, place) {
      const [version, id, nonce, text, ...more] = sealed.split(".");
      if (version !== "v1" || id !== keyId || nonce === undefined || text === undefined || more.length > 0) throw unreadable(place);
      const bytes = Buffer.from(text, "base64url");
      try {
        // A tag of full length, or a forger would need to guess no more than the few bytes it is cut down to.
        const decipher = createDecipheriv("aes-256-gcm", masterKey, Buffer.from(nonce, "base64url"), { authTagLength });
        decipher.setAAD(bound(place)).setAuthTag(bytes.subarray(-authTagLength));
        return Buffer.concat([decipher.update(bytes.subarray(0, -authTagLength)), decipher.final()]).toString("utf8");
      } catch {
        throw unreadable(place);
      }
    },
  };
}

/** The 32 bytes of a master key given as 64 hex digits or base64. */
export function parseMasterKey(text: string): Buffer {
  return /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64");
}

function unreadable(place: Place): Refusal {
  return new Refusal(
    "secret_unreadable",
    `This ${place.kind} was sealed with another master key and cannot be shown. It still works where it is used; rotate it to get a new one.`,
  );
}

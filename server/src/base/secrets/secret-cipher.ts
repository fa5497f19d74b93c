import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { ApiError } from "../errors.ts";

/**
 * Seals secrets that must be shown or used again: AES-256-GCM under the master key, which is kept outside the database.
 * A sealed text is `v1.<key id>.<nonce>.<ciphertext and tag>` in base64url, bound to a place (workspace, kind and row): moved
 * elsewhere, it does not open.
 */
export interface SecretCipher {
  /** What every text that it seals begins with, and no text of another key: version and key id. */
  readonly prefix: string;
  encrypt(secret: string, place: SecretBinding): string;
  /** @throws ApiError `secret_unreadable` when another key sealed it, or it was moved or altered. */
  decrypt(sealed: string, place: SecretBinding): string;
}

/** Where an encrypted secret belongs: additional authenticated data of its cipher. */
export interface SecretBinding {
  readonly workspaceId: string;
  /** What it is, for example `token`. */
  readonly kind: string;
  /** The row it belongs to. */
  readonly row: string;
  /** `row` of texts that an earlier version sealed; they still open. */
  readonly earlierRow?: string;
  /** What to do when it cannot be opened, as a sentence for whoever asked. Not sealed with it. */
  readonly remedy: string;
}

/** Bytes. */
const authTagLength = 16;

/** Seals with `masterKey`, and opens what that key or `previous` sealed. */
export function createSecretCipher(masterKey: Buffer, previous?: Buffer): SecretCipher {
  const current = oneKey(masterKey);
  const keys = previous === undefined ? [current] : [current, oneKey(previous)];
  return {
    prefix: current.prefix,
    encrypt: current.seal,
    decrypt(sealed, place) {
      const key = keys.find(({ prefix }) => sealed.startsWith(prefix));
      for (const row of [place.row, place.earlierRow]) {
        const opened = row === undefined ? undefined : key?.open(sealed, { ...place, row });
        if (opened !== undefined) return opened;
      }
      throw unreadable(place);
    },
  };
}

function oneKey(key: Buffer) {
  if (key.length !== 32) throw new Error("a master key is 32 bytes");
  const keyId = createHash("sha256").update("beckon key id").update(key).digest("hex").slice(0, 8);
  const bound = (place: SecretBinding) =>
    Buffer.from(JSON.stringify(["v1", keyId, place.workspaceId, place.kind, place.row]));
  return {
    prefix: `v1.${keyId}.`,
    seal(secret: string, place: SecretBinding): string {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength }).setAAD(
        bound(place),
      );
      const text = Buffer.concat([
        cipher.update(secret, "utf8"),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return ["v1", keyId, nonce.toString("base64url"), text.toString("base64url")].join(".");
    },
    /** undefined: it was moved or altered. */
    open(sealed: string, place: SecretBinding): string | undefined {
      const [, , nonce, text, ...more] = sealed.split(".");
      if (nonce === undefined || text === undefined || more.length > 0) return undefined;
      const bytes = Buffer.from(text, "base64url");
      try {
        // A tag of full length, or a forger would need to guess no more than the few bytes it is cut down to.
        const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(nonce, "base64url"), {
          authTagLength,
        });
        decipher.setAAD(bound(place)).setAuthTag(bytes.subarray(-authTagLength));
        return Buffer.concat([
          decipher.update(bytes.subarray(0, -authTagLength)),
          decipher.final(),
        ]).toString("utf8");
      } catch {
        return undefined;
      }
    },
  };
}

/** The 32 bytes of a master key given as 64 hex digits or base64. */
export function parseMasterKey(text: string): Buffer {
  return /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64");
}

function unreadable({ kind, remedy }: SecretBinding): ApiError {
  return new ApiError(
    "secret_unreadable",
    `This ${kind} cannot be opened: it was sealed with another master key, or was altered since. ${remedy}`,
  );
}

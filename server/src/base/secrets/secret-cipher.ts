import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { ApiError } from "../errors.ts";

/**
 * Encrypts secrets that must be shown or used again, with AES-256-GCM and the master key, which is
 * kept outside the database. An encrypted text is `v1.<key id>.<nonce>.<ciphertext and tag>` in
 * base64url. It is bound to a workspace, kind and row: copied to another one, it cannot be
 * decrypted.
 */
export interface SecretCipher {
  /** Version and key id: the prefix of every text that this key encrypts, and of no other. */
  readonly prefix: string;
  encrypt(secret: string, binding: SecretBinding): string;
  /**
   * @throws ApiError `secret_unreadable` if it was encrypted with another key, moved or altered.
   */
  decrypt(encrypted: string, binding: SecretBinding): string;
}

/** The location of an encrypted secret: the additional authenticated data of its cipher. */
export interface SecretBinding {
  readonly workspaceId: string;
  /** Kind of secret, for example `token`. Also named in error messages. */
  readonly kind: string;
  /** The row that it belongs to. */
  readonly row: string;
  /** `row` that an earlier version used; texts encrypted with it can still be decrypted. */
  readonly earlierRow?: string;
  /**
   * What the caller can do if it cannot be decrypted, as a sentence. Not part of the authenticated
   * data.
   */
  readonly remedy: string;
}

/** Bytes. */
const authTagLength = 16;

/**
 * Returns a cipher that encrypts with `masterKey` and decrypts texts of `masterKey` and `previous`.
 */
export function createSecretCipher(masterKey: Buffer, previous?: Buffer): SecretCipher {
  const current = oneKey(masterKey);
  const keys = previous === undefined ? [current] : [current, oneKey(previous)];
  return {
    prefix: current.prefix,
    encrypt: current.encrypt,
    decrypt(encrypted, binding) {
      const key = keys.find(({ prefix }) => encrypted.startsWith(prefix));
      for (const row of [binding.row, binding.earlierRow]) {
        const secret = row === undefined ? undefined : key?.decrypt(encrypted, { ...binding, row });
        if (secret !== undefined) return secret;
      }
      throw unreadable(binding);
    },
  };
}

function oneKey(key: Buffer) {
  if (key.length !== 32)
    throw new Error(`The master key has ${key.length} bytes. It must have 32.`);
  const keyId = createHash("sha256").update("beckon key id").update(key).digest("hex").slice(0, 8);
  const authenticatedData = (binding: SecretBinding) =>
    Buffer.from(JSON.stringify(["v1", keyId, binding.workspaceId, binding.kind, binding.row]));
  return {
    prefix: `v1.${keyId}.`,
    encrypt(secret: string, binding: SecretBinding): string {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength }).setAAD(
        authenticatedData(binding),
      );
      const text = Buffer.concat([
        cipher.update(secret, "utf8"),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return ["v1", keyId, nonce.toString("base64url"), text.toString("base64url")].join(".");
    },
    /** Returns undefined if the text was moved or altered. */
    decrypt(encrypted: string, binding: SecretBinding): string | undefined {
      const [, , nonce, text, ...more] = encrypted.split(".");
      if (nonce === undefined || text === undefined || more.length > 0) return undefined;
      const bytes = Buffer.from(text, "base64url");
      try {
        // Requires a tag of full length: a truncated tag would be easy to forge.
        const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(nonce, "base64url"), {
          authTagLength,
        });
        decipher.setAAD(authenticatedData(binding)).setAuthTag(bytes.subarray(-authTagLength));
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

/** Returns the bytes of a master key that is given as 64 hex digits or base64. */
export function parseMasterKey(text: string): Buffer {
  return /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64");
}

function unreadable({ kind, remedy }: SecretBinding): ApiError {
  return new ApiError(
    "secret_unreadable",
    `This ${kind} cannot be decrypted: it was encrypted with another master key, or was ` +
      `altered since. ${remedy}`,
  );
}

import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { ApiError } from "../errors.ts";

/**
 * Encrypts secrets that must be shown or used again, with AES-256-GCM and the master key, which is
 * kept outside the database. An encrypted text is `v1.<key id>.<nonce>.<ciphertext and tag>` with
 * nonce and ciphertext in base64url. It is bound to a workspace, kind and row: a copy in another
 * row cannot be decrypted.
 */
export interface SecretCipher {
  /**
   * Version of the format, and id of the master key with which `encrypt` encrypts: `v1.<key id>.`.
   * Every text that this master key encrypts begins with this prefix, and no other text does.
   */
  readonly prefix: string;
  encrypt(secret: string, binding: SecretBinding): string;
  /**
   * @throws ApiError `secret_unreadable` if the text was encrypted with another key, moved or
   *   altered.
   */
  decrypt(encrypted: string, binding: SecretBinding): string;
}

/**
 * The location of an encrypted secret. `workspaceId`, `kind` and `row` are the additional
 * authenticated data of the encryption.
 */
export interface SecretBinding {
  readonly workspaceId: string;
  /** Kind of secret, for example `token`. Error messages contain it. */
  readonly kind: string;
  /** Identifies the row that the secret belongs to. */
  readonly row: string;
  /**
   * Value of `row` in an earlier version of Beckon; undefined if it was the same. Texts that were
   * encrypted with the earlier value can still be decrypted.
   */
  readonly earlierRow?: string;
  /** A sentence that says what the caller can do if the secret cannot be decrypted. */
  readonly remedy: string;
}

/** Length in bytes of a full GCM tag. */
const authTagLength = 16;

/**
 * Returns a cipher that encrypts with `masterKey` and decrypts texts that were encrypted with
 * `masterKey` or, if it is given, with `previous`.
 * @throws Error if a key does not have 32 bytes.
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
        // `authTagLength` makes Node reject a shorter tag, which would be easier to forge.
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

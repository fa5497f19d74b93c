import { createHash, type Hash } from "node:crypto";
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { EmbeddedError } from "../embedded-error.ts";

/** A file that was written. `path` is relative to the extractor's folder. */
export interface ExtractedFile {
  readonly path: string;
  readonly bytes: number;
  /** In hex. */
  readonly sha256: string;
}

/** Writes the files of an archive, as its bytes arrive. */
export interface Extractor {
  readonly files: readonly ExtractedFile[];
  readonly folders: readonly string[];
  write(chunk: Buffer): void;
  /** Writes a file that is not part of the archive. */
  add(path: string, content: Buffer): void;
  /**
   * Checks that the archive is complete.
   * @throws EmbeddedError if the archive has ended within a file or a header.
   */
  end(): void;
  /** Closes the file that is being written, if any. */
  close(): void;
}

const blockBytes = 512;

interface OpenFile {
  readonly path: string;
  readonly bytes: number;
  readonly descriptor: number;
  readonly hash: Hash;
  missing: number;
}

/**
 * Creates an extractor of the archives that PostgreSQL sends (ustar: PostgreSQL's `tar.c`), with
 * folders of mode 0700 and files of mode 0600. It writes synchronously. Meanwhile nothing is read
 * from the connection, so at most one message is in memory.
 * @param folder an empty folder.
 * @throws EmbeddedError from `write` for an entry that is neither a file nor a folder, or whose
 *   path leaves the folder.
 */
export function createExtractor(folder: string): Extractor {
  const files: ExtractedFile[] = [];
  const folders: string[] = [];
  const header = Buffer.alloc(blockBytes);
  let headerBytes = 0;
  let padding = 0;
  let open: OpenFile | undefined;

  const finishFile = ({ path, bytes, descriptor, hash }: OpenFile) => {
    closeSync(descriptor);
    open = undefined;
    files.push({ path, bytes, sha256: hash.digest("hex") });
    padding = (blockBytes - (bytes % blockBytes)) % blockBytes;
  };
  const createFile = (path: string, bytes: number): OpenFile => {
    mkdirSync(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    const descriptor = openSync(join(folder, path), "wx", 0o600);
    return { path, bytes, descriptor, hash: createHash("sha256"), missing: bytes };
  };
  const begin = () => {
    // The end of an archive is marked by blocks of zeros.
    if (header.every((byte) => byte === 0)) return;
    const { path, bytes, kind } = readHeader(header);
    if (kind === "5") {
      mkdirSync(join(folder, path), { recursive: true, mode: 0o700 });
      if (path !== ".") folders.push(path);
      return;
    }
    if (kind !== "0" && kind !== "\0") {
      throw new EmbeddedError(
        `PostgreSQL's folder contains the link ${path}, which a backup cannot contain. Move the ` +
          "files of the tablespace into the data folder first.",
      );
    }
    open = createFile(path, bytes);
    if (bytes === 0) finishFile(open);
  };

  return {
    files,
    folders,
    write(chunk) {
      let at = 0;
      while (at < chunk.length) {
        if (open !== undefined) {
          const part = chunk.subarray(at, at + open.missing);
          writeAll(open.descriptor, part);
          open.hash.update(part);
          open.missing -= part.length;
          at += part.length;
          if (open.missing === 0) finishFile(open);
        } else if (padding > 0) {
          const skipped = Math.min(padding, chunk.length - at);
          padding -= skipped;
          at += skipped;
        } else {
          const copied = chunk.copy(header, headerBytes, at);
          headerBytes += copied;
          at += copied;
          if (headerBytes < blockBytes) continue;
          headerBytes = 0;
          begin();
        }
      }
    },
    add(path, content) {
      const file = createFile(path, content.length);
      open = file;
      writeAll(file.descriptor, content);
      file.hash.update(content);
      finishFile(file);
    },
    end() {
      if (open === undefined && headerBytes === 0) return;
      throw new EmbeddedError("PostgreSQL sent an incomplete archive. Try again.");
    },
    close() {
      if (open !== undefined) closeSync(open.descriptor);
      open = undefined;
    },
  };
}

function writeAll(descriptor: number, data: Buffer): void {
  for (let at = 0; at < data.length; ) at += writeSync(descriptor, data, at);
}

function readHeader(header: Buffer): { path: string; bytes: number; kind: string } {
  const text = (start: number, length: number) => {
    const field = header.subarray(start, start + length);
    const end = field.indexOf(0);
    return field.subarray(0, end === -1 ? length : end).toString("utf8");
  };
  const prefix = text(345, 155);
  const name = prefix === "" ? text(0, 100) : `${prefix}/${text(0, 100)}`;
  const path = name.replace(/^\.\//, "").replace(/\/$/, "") || ".";
  if (!isInside(path)) throw new EmbeddedError(`PostgreSQL sent the invalid path ${path}.`);
  // A size below 8 GiB is octal text. A larger size is a binary number, which is marked by the
  // first bit of the field.
  const isBinary = ((header[124] ?? 0) & 0x80) !== 0;
  const bytes = isBinary
    ? Number(header.readBigUInt64BE(128))
    : Number.parseInt(text(124, 12).trim() || "0", 8);
  return { path, bytes, kind: String.fromCharCode(header[156] ?? 0) };
}

/** Returns whether a relative path stays in its folder. */
export function isInside(path: string): boolean {
  return (
    path !== "" &&
    !path.startsWith("/") &&
    !path.includes("\0") &&
    !path.split(/[/\\]/).includes("..")
  );
}

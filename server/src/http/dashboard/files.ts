import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { acceptedNames } from "../request/index.ts";

type Bytes = Buffer<ArrayBuffer>;

/** Reads a file. Resolves to undefined if it does not exist. */
export type ReadFile = (file: URL) => Promise<Bytes | undefined>;

/**
 * Returns a function that reads files. Simultaneous reads of a file are one read and share its
 * bytes, so that many requests at once need neither much memory nor many file handles.
 * @param options `keeps`: whether the bytes are kept and returned to all later calls. Only for
 *   files whose content never changes.
 */
export function createReader({ keeps }: { readonly keeps: boolean }): ReadFile {
  const reads = new Map<string, Promise<Bytes | undefined>>();
  return (file) => {
    const known = reads.get(file.href);
    if (known !== undefined) return known;
    const read = readIfThere(file);
    reads.set(file.href, read);
    const forget = () => void reads.delete(file.href);
    read.then((bytes) => {
      if (!keeps || bytes === undefined) forget();
    }, forget);
    return read;
  };
}

/** The bytes of a built file, possibly compressed, and the headers to send with them. */
interface BuiltFile {
  readonly bytes: Bytes;
  readonly headers: Readonly<Record<string, string>>;
}

/** Media types by extension. Files with other extensions are not served. */
const mediaTypes: ReadonlyMap<string, string> = new Map([
  ["css", "text/css; charset=utf-8"],
  ["html", "text/html; charset=utf-8"],
  ["js", "text/javascript; charset=utf-8"],
  ["json", "application/json"],
  ["svg", "image/svg+xml"],
  ["woff2", "font/woff2"],
]);

/**
 * Encodings of the compressed copies that the build writes beside a file, the preferred one first.
 */
const encodings = [
  { name: "br", extension: "br" },
  { name: "gzip", extension: "gz" },
] as const;

/**
 * A name of one path segment that does not start with a dot. Such a name cannot lead out of the
 * folder, and cannot be `.sources`, the file in which `script/build-web` lists the dashboard's
 * source files.
 */
const plainName = /^[\w-]+(?:\.[\w-]+)*\.(?<extension>\w+)$/;

/**
 * Reads a file of a folder. Returns undefined if there is no such file, or if its name or type is
 * not one that the build writes.
 */
export async function builtFile(
  read: ReadFile,
  folder: URL,
  name: string,
): Promise<(BuiltFile & { readonly etag: string }) | undefined> {
  const type = typeOfFile(name);
  const bytes = type === undefined ? undefined : await read(new URL(name, folder));
  if (type === undefined || bytes === undefined) return undefined;
  const digest = createHash("sha256").update(bytes).digest("base64url");
  return { bytes, headers: headersOf(type), etag: `"${digest.slice(0, 22)}"` };
}

/**
 * Reads a file of a folder in the best encoding that the header `Accept-Encoding` allows. Returns
 * undefined in the same cases as `builtFile`.
 */
export async function compressedFile(
  read: ReadFile,
  folder: URL,
  name: string,
  acceptEncoding: string,
): Promise<BuiltFile | undefined> {
  const type = typeOfFile(name);
  if (type === undefined) return undefined;
  const headers = { ...headersOf(type), vary: "accept-encoding" };
  const accepted = acceptedNames(acceptEncoding);
  for (const encoding of encodings.filter(({ name }) => accepted.has(name))) {
    const bytes = await read(new URL(`${name}.${encoding.extension}`, folder));
    if (bytes !== undefined)
      return { bytes, headers: { ...headers, "content-encoding": encoding.name } };
  }
  const bytes = await read(new URL(name, folder));
  return bytes && { bytes, headers };
}

/** Returns the names of the files that can be served from a folder; none if it does not exist. */
export async function namesIn(folder: URL): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => typeOfFile(name) !== undefined);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw thrown;
  }
}

function typeOfFile(name: string): string | undefined {
  return mediaTypes.get(plainName.exec(name)?.groups?.extension ?? "");
}

function headersOf(type: string): Record<string, string> {
  return {
    "content-type": type,
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
  };
}

async function readIfThere(file: URL): Promise<Bytes | undefined> {
  try {
    return await readFile(file);
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw thrown;
  }
}

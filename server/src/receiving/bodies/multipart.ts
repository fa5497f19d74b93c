import { pipeline } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { isStorableText } from "@beckon/contract";
import {
  Busboy,
  type BusboyFileStream,
  type BusboyHeaders,
  type BusboyInstance,
} from "@fastify/busboy";
import { ApiError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { FormFields, maxFormFields, notInItsCharset, tooManyFields } from "./form-fields.ts";

/** A file of a form. It becomes an artifact of the run. */
export interface ReceivedFile {
  /** The id of the artifact. */
  readonly id: string;
  /** The name of the form's field. */
  readonly field: string;
  readonly name: string;
  readonly media_type: string;
  readonly size: number;
  readonly content: Buffer;
}

/** What the payload contains in place of a file. */
export interface FileReference {
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly id: string;
}

const maxFiles = 100;
const maxNameLength = 255;
const limits = {
  fields: maxFormFields,
  files: maxFiles,
  parts: maxFormFields + maxFiles,
  headerPairs: 20,
  headerSize: 8 * 1024,
  // A part cannot be larger than the body, whose size `decodeBody` has checked.
  fieldSize: Number.POSITIVE_INFINITY,
  fileSize: Number.POSITIVE_INFINITY,
};
/** The body is parsed in pieces of this size, and other requests are served between them. */
const pieceBytes = 256 * 1024;

/**
 * Reads a form (RFC 7578). Empty files without a name are left out, because browsers send one for
 * each file input in which no file was chosen.
 * @throws ApiError `bad_request` if the body is not a complete, valid form, has too many fields or
 *   files, a field name that is not valid, a NUL in a field, or a name or field that is not text in
 *   UTF-8. A field can be in ISO-8859-1 or windows-1252 if the Content-Type of its part says so.
 */
export async function readMultipart(
  bytes: Buffer,
  contentType: string,
): Promise<{
  readonly fields: Record<string, unknown>;
  readonly files: readonly ReceivedFile[];
}> {
  const fields = new FormFields<string | FileReference>(maxFormFields + maxFiles);
  const files: ReceivedFile[] = [];
  const texts: string[] = [];
  const parser = createParser(contentType);
  const fail = (error: ApiError) => parser.destroy(error);
  parser.on("partsLimit", () => fail(tooManyFields(maxFormFields)));
  parser.on("fieldsLimit", () => fail(tooManyFields(maxFormFields)));
  parser.on("filesLimit", () => fail(tooManyFiles()));
  parser.on("field", (name, read) => {
    const value = withWindows1252(read);
    const mistake = nameMistake(name) ?? valueMistake(value);
    if (mistake !== undefined) fail(new ApiError("bad_request", mistake));
    else fields.add(name, value);
    texts.push(name, value);
  });
  parser.on("file", (field, stream, fileName, _encoding, mediaType) => {
    const mistake = nameMistake(field);
    if (mistake !== undefined) fail(new ApiError("bad_request", mistake));
    texts.push(field, fileName ?? "");
    collect(stream, (content) => {
      if (content.length === 0 && !fileName) return;
      const file = {
        id: newId("art"),
        field,
        name: cleanName(fileName),
        media_type: cleanMediaType(mediaType),
        size: content.length,
        content,
      };
      files.push(file);
      const { id, name, media_type: type, size } = file;
      fields.add(field, { name, type, size, id });
    });
  });
  try {
    await pipeline(piecesOf(bytes), parser);
  } catch (thrown) {
    throw thrown instanceof ApiError ? thrown : notMultipart();
  }
  if (isDamaged(texts, bytes, files)) throw notInItsCharset();
  return { fields: fields.toObject(), files };
}

/**
 * Returns the text of a field. Busboy decodes both ISO-8859-1 and windows-1252 byte by byte,
 * although both names mean windows-1252 (Encoding Standard, "Names and labels"). Its quotation
 * marks and € then become control characters, which other forms do not contain.
 */
function withWindows1252(text: string): string {
  if (!/[\u0080-\u009f]/.test(text) || /[^\0-\u00ff]/.test(text)) return text;
  return windows1252.decode(Buffer.from(text, "latin1"));
}
const windows1252 = new TextDecoder("windows-1252");

/**
 * Returns whether Busboy has replaced bytes that are not valid in a text's charset by U+FFFD. A
 * sender can also send U+FFFD itself. So a form is damaged only if its texts contain U+FFFD more
 * often than the bytes of the form outside its files. The occurrences are only counted, because
 * searching the bytes for each text would take quadratic time.
 */
function isDamaged(
  texts: readonly string[],
  bytes: Buffer,
  files: readonly ReceivedFile[],
): boolean {
  const read = texts.reduce((sum, text) => sum + countReplacements(text), 0);
  if (read === 0) return false;
  const inFiles = files.reduce((sum, { content }) => sum + countSent(content), 0);
  return read > countSent(bytes) - inFiles;
}

function countReplacements(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\ufffd"); at !== -1; at = text.indexOf("\ufffd", at + 1)) count++;
  return count;
}

/**
 * Returns how often U+FFFD (in UTF-8 the bytes EF BF BD) occurs. If 25 MiB consisted of it, one
 * call of `indexOf` for each occurrence would take a second.
 */
function countSent(bytes: Buffer): number {
  let count = 0;
  for (let at = 2; at < bytes.length; at++)
    if (bytes[at] === 0xbd && bytes[at - 1] === 0xbf && bytes[at - 2] === 0xef) count++;
  return count;
}

function createParser(contentType: string): BusboyInstance {
  try {
    const headers: BusboyHeaders = { "content-type": contentType };
    return new Busboy({ headers, limits });
  } catch {
    throw notMultipart();
  }
}

async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    if (at > 0) await setImmediate();
    yield bytes.subarray(at, at + pieceBytes);
  }
}

function collect(stream: BusboyFileStream, onEnd: (content: Buffer) => void): void {
  const chunks: Buffer[] = [];
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  stream.on("end", () => onEnd(Buffer.concat(chunks)));
  // An error of this stream is ignored, because the parser fails with the same error.
  stream.on("error", () => {});
}

function nameMistake(name: string | undefined): string | undefined {
  if (!name) return "A part of the form has no name. Give each field a name.";
  if (name.length > maxNameLength || !isStorableText(name)) {
    return `The name of a field is not valid. Use at most ${maxNameLength} characters without NUL.`;
  }
  return undefined;
}

function valueMistake(value: string): string | undefined {
  return isStorableText(value)
    ? undefined
    : "A field of the form contains a NUL (0x00). Send text without it, or send it as a file.";
}

/**
 * Returns the name without control characters, at most 255 characters long; `file` if nothing is
 * left.
 */
function cleanName(name: string | undefined): string {
  const clean = (name ?? "")
    .replace(/\p{Cc}/gu, "")
    .slice(0, maxNameLength)
    .toWellFormed();
  return clean === "" ? "file" : clean;
}

function cleanMediaType(type: string): string {
  return /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type) ? type : "application/octet-stream";
}

function tooManyFiles(): ApiError {
  return new ApiError("bad_request", `The form has more than ${maxFiles} files. Send fewer files.`);
}

function notMultipart(): ApiError {
  return new ApiError(
    "bad_request",
    "The body is not complete, valid multipart/form-data. Check its boundary and its end.",
  );
}

import { pipeline } from "node:stream/promises";
import { setImmediate } from "node:timers/promises";
import { isStorableText } from "@beckon/contract";
import { Busboy, type BusboyFileStream, type BusboyInstance } from "@fastify/busboy";
import { ApiError } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import { FormFields, maxFormFields, notInItsCharset, tooManyFields } from "./form-fields.ts";
import { boundaryOf, countParts, notMultipart } from "./multipart-parts.ts";

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
const maxParts = maxFormFields + maxFiles;
const maxNameLength = 255;
const limits = {
  fields: maxFormFields,
  files: maxFiles,
  parts: maxParts,
  // A part cannot be larger than the body, whose size `decodeBody` has checked. `countParts` limits
  // the headers.
  fieldSize: Number.POSITIVE_INFINITY,
  fileSize: Number.POSITIVE_INFINITY,
};
/** The body is parsed in pieces of this size, and other requests are served between them. */
const pieceBytes = 256 * 1024;

/**
 * Reads a form (RFC 7578). Empty files without a name are left out, because browsers send one for
 * each file input in which no file was chosen.
 * @throws ApiError `bad_request` if the body is not a complete, valid form, has too many fields or
 *   files, a part that cannot be read or is encoded, a field name that is not valid, a NUL in a
 *   field, or a name or field that is not text in UTF-8. A field can be in ISO-8859-1 or
 *   windows-1252 if the Content-Type of its part says so.
 */
export async function readMultipart(
  bytes: Buffer,
  contentType: string,
): Promise<{
  readonly fields: Record<string, unknown>;
  readonly files: readonly ReceivedFile[];
}> {
  const boundary = boundaryOf(contentType);
  const partCount = countParts(bytes, boundary, maxParts);
  // Parts in the order of their headers. A file's content is complete only after later parts began.
  const parts: FormPart[] = [];
  const parser = createParser(boundary);
  const fail = (error: ApiError) => parser.destroy(error);
  const check = (mistake: string | undefined) => {
    if (mistake !== undefined) fail(new ApiError("bad_request", mistake));
  };
  parser.on("partsLimit", () => fail(tooManyFields(maxFormFields)));
  parser.on("fieldsLimit", () => fail(tooManyFields(maxFormFields)));
  parser.on("filesLimit", () => fail(tooManyFiles()));
  parser.on("field", (name, read, _nameTruncated, _valueTruncated, encoding) => {
    const text = withWindows1252(read);
    check(nameMistake(name) ?? encodingMistake(encoding) ?? valueMistake(text));
    parts.push({ name, text });
  });
  parser.on("file", (name, stream, fileName = "", encoding, mediaType) => {
    check(nameMistake(name) ?? encodingMistake(encoding));
    const part: FormPart = { name, text: fileName };
    parts.push(part);
    collect(stream, (content) => {
      part.file = {
        id: newId("art"),
        field: name,
        name: cleanName(fileName),
        media_type: cleanMediaType(mediaType),
        size: content.length,
        content,
      };
    });
  });
  try {
    await pipeline(piecesOf(bytes), parser);
  } catch (thrown) {
    throw thrown instanceof ApiError ? thrown : notMultipart();
  }
  if (parts.length < partCount) throw unreadParts(partCount - parts.length, partCount);
  const fields = new FormFields<string | FileReference>(maxParts);
  const files: ReceivedFile[] = [];
  for (const { name, text, file } of parts) {
    if (file === undefined) fields.add(name, text);
    else if (file.size > 0 || text !== "") {
      files.push(file);
      fields.add(name, { name: file.name, type: file.media_type, size: file.size, id: file.id });
    }
  }
  const texts = parts.flatMap(({ name, text }) => [name, text]);
  if (isDamaged(texts, bytes, files)) throw notInItsCharset();
  return { fields: fields.toObject(), files };
}

interface FormPart {
  readonly name: string;
  /** The value of a field, or the name of a file as it was sent. */
  readonly text: string;
  file?: ReceivedFile;
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

/** The boundary is passed quoted, so that Busboy and `countParts` have the same one. */
function createParser(boundary: string): BusboyInstance {
  const quoted = boundary.replace(/["\\]/g, "\\$&");
  const headers = { "content-type": `multipart/form-data; boundary="${quoted}"` };
  return new Busboy({ headers, limits });
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

/** Busboy decodes no part, and no browser encodes one (RFC 7578, section 4.7). */
function encodingMistake(encoding: string): string | undefined {
  return /^\s*(?:7bit|8bit|binary)\s*$/i.test(encoding)
    ? undefined
    : "A part of the form has a Content-Transfer-Encoding other than 7bit, 8bit and binary. Send its content as it is.";
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

function unreadParts(unread: number, parts: number): ApiError {
  return new ApiError(
    "bad_request",
    `${unread} of the ${parts} parts of the form cannot be read. Send Content-Disposition: form-data with a name in each part, without line breaks in names.`,
  );
}

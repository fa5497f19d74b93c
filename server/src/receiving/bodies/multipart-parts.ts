import { MIMEType } from "node:util";
import { ApiError } from "../../base/errors.ts";

const maxHeaderLines = 20;
const maxHeaderKiB = 8;
/** What ends the headers of a part. */
const headerEnd = "\r\n\r\n";

/**
 * Maximum length of a boundary (RFC 2046, section 5.1.1). The time to find the delimiters in a body
 * grows with it, and no other work is done meanwhile.
 */
const maxBoundaryLength = 70;

/**
 * Returns the boundary of a form.
 * @throws ApiError `bad_request` if there is none, or it is too long
 */
export function boundaryOf(contentType: string): string {
  let boundary: string | null = null;
  try {
    boundary = new MIMEType(contentType).params.get("boundary");
  } catch {
    // It is not a media type, so it has no boundary.
  }
  if (!boundary) throw notMultipart();
  if (boundary.length <= maxBoundaryLength) return boundary;
  throw new ApiError(
    "bad_request",
    `The boundary of the form has more than ${maxBoundaryLength} characters. Send a shorter one.`,
  );
}

/**
 * Counts the parts of a form, up to `maxParts + 1`, and checks their headers. Busboy ignores header
 * lines that it cannot read and those beyond its limits, and parts without a readable
 * Content-Disposition. It reports none of them.
 * @throws ApiError `bad_request` if the form has no end, or Busboy would not read all headers of a
 *   part
 */
export function countParts(bytes: Buffer, boundary: string, maxParts: number): number {
  const delimiter = Buffer.from(`\r\n--${boundary}`, "latin1");
  const after = (at: number) => (at === -1 ? undefined : at + delimiter.length);
  // No line break precedes a delimiter at the start of the form.
  const isAtStart = delimiter.subarray(2).equals(bytes.subarray(0, delimiter.length - 2));
  let start = isAtStart ? delimiter.length - 2 : after(bytes.indexOf(delimiter));
  for (let count = 0; ; ) {
    if (start === undefined) throw notMultipart();
    if (bytes.toString("latin1", start, start + 2) === "--") return count;
    if (++count > maxParts) return count;
    const next = bytes.indexOf(delimiter, start);
    if (next === -1) throw notMultipart();
    const end = Math.min(next, start + maxHeaderKiB * 1024 + headerEnd.length);
    const mistake = headersMistake(bytes.toString("latin1", start, end));
    if (mistake !== undefined) {
      throw new ApiError("bad_request", `Part ${count} of the form has ${mistake}`);
    }
    start = after(next);
  }
}

/** @param text the part from the end of its delimiter on, as Latin-1 */
function headersMistake(text: string): string | undefined {
  const end = text.indexOf(headerEnd);
  if (end === -1) {
    return text.length < maxHeaderKiB * 1024
      ? "no empty line after its headers. Send one, also if the part is empty."
      : `headers that do not end within ${maxHeaderKiB} KiB. Send shorter ones, then an empty line.`;
  }
  if (end === 0) return undefined;
  const [rest, ...lines] = text.slice(0, end).split("\r\n");
  if (lines.length > maxHeaderLines) {
    return `more than ${maxHeaderLines} lines of headers. Send fewer headers.`;
  }
  const isReadable =
    rest === "" && !/^[ \t]/.test(lines[0] ?? "") && lines.every((line) => headerLine.test(line));
  return isReadable
    ? undefined
    : 'a header line that is not "Name: value". Send each header on a line of its own.';
}

/** A header, or the continuation of the header before it. */
const headerLine = /^(?:[^\s:]+:|[ \t])[^\r\n]*$/;

export function notMultipart(): ApiError {
  return new ApiError(
    "bad_request",
    "The body is not complete, valid multipart/form-data. Check its boundary and its end.",
  );
}

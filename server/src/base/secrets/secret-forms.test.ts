import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { scrubberFor } from "./scrub-secrets.ts";

const secret = 'sk-"live"/a+b&c=0123~?>';
const anyByte = fc.uint8Array({ maxLength: 7 });
/**
 * Printable ASCII, as keys and secrets are. At least six characters, because base64 forms of
 * shorter secrets can be too short to be searched for.
 */
const anySecret = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 6,
});

function scrubbed(text: string, secrets: readonly string[] = [secret]): string {
  return scrubberFor(secrets).text(text);
}

describe("a secret is found", () => {
  const base64 = Buffer.from(secret).toString("base64");
  it.each([
    ["in plain text", secret],
    ["in another case", secret.toUpperCase()],
    ["in JSON", JSON.stringify(secret)],
    ["in JSON that escapes slashes", JSON.stringify(secret).replaceAll("/", "\\/")],
    ["in JSON inside JSON", JSON.stringify(JSON.stringify(secret))],
    [
      "in JSON with \\u escapes",
      secret.replaceAll(/["/+&=]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`),
    ],
    ["in a URL", `?key=${encodeURIComponent(secret)}`],
    ["in a URL, in lower case", encodeURIComponent(secret).toLowerCase()],
    ["in a form", new URLSearchParams([["key", secret]]).toString()],
    ["in HTML", secret.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll(">", "&gt;")],
    [
      "in HTML by numbers",
      secret.replaceAll("&", "&#38;").replaceAll('"', "&#x22;").replaceAll(">", "&#062;"),
    ],
    ["in base64", base64],
    ["in base64 without padding", base64.replace(/=+$/, "")],
    ["in base64url", Buffer.from(secret).toString("base64url")],
    ["in percent-encoded base64", encodeURIComponent(base64)],
    ["in base64 inside JSON that escapes slashes", base64.replaceAll("/", "\\/")],
    ["in hex", Buffer.from(secret).toString("hex")],
    ["in upper-case hex", Buffer.from(secret).toString("hex").toUpperCase()],
    ["in credentials of basic authentication", Buffer.from(`user:${secret}`).toString("base64")],
    ["several times", `${secret}${secret} ${base64}`],
  ])("%s", (_how, text) => {
    expect(scrubbed(`before ${text} after`)).toMatch(/^before .*\[secret\].* after$/);
    expect(scrubbed(text)).not.toMatch(/live|0123|c2st|bGl2|LmhY|2b2live|736b|6976/i);
  });

  it("if it has backslashes, escaped or not", () => {
    const windows = "C:\\\\keys\\one";
    for (const text of [
      windows,
      JSON.stringify(windows),
      JSON.stringify(JSON.stringify(windows)),
      encodeURIComponent(windows),
      windows.replaceAll("\\", "\\u005c"),
      windows.replaceAll("\\", "&#92;"),
    ])
      expect(scrubbed(text, [windows])).toMatch(/^[\\"]*\[secret\][\\"]*$/);
  });

  it("in base64 at any offset of a longer text, with nothing of the secret left", () => {
    fc.assert(
      fc.property(
        anyByte,
        anySecret,
        anyByte,
        fc.constantFrom("base64", "base64url"),
        (before, key, after, encoding) => {
          const text = Buffer.concat([before, Buffer.from(key), after]);
          const left = scrubbed(text.toString(encoding as BufferEncoding), [key]);
          expect(left).toContain("[secret]");
          // What is left before and after the placeholder is too short to encode a byte of the
          // secret.
          const [head = "", tail = ""] = [
            left.slice(0, left.indexOf("[secret]")),
            left.slice(left.lastIndexOf("]") + 1),
          ];
          expect(head.length * 6).toBeLessThanOrEqual(before.length * 8);
          expect(tail.replace(/=+$/, "").length * 6).toBeLessThanOrEqual(after.length * 8 + 4);
        },
      ),
    );
  });
});

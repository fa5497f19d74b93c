import { expect, test } from "vitest";
import { scrubberFor } from "./scrub-secrets.ts";

const secret = 'sk-"live"/a+b&c=0123';
const scrubber = scrubberFor([secret]);

test("a secret is removed from names and values of JSON, escaped or not", () => {
  const json = `{"${"sk-\\u0061bcdefgh"}": ["\\u0073k-abcdefgh", {"deep": "x sk-abcdefgh y"}], "n": 7}`;
  expect(scrubberFor(["sk-abcdefgh"]).json(JSON.parse(json))).toEqual({
    "[secret]": ["[secret]", { deep: "x [secret] y" }],
    n: 7,
  });
});

test("user and password of basic authentication are removed in plain text too", () => {
  const basic = scrubberFor([Buffer.from("ada:correct horse").toString("base64")]);
  expect(basic.text("user ada:correct horse, password correct horse")).toBe(
    "user [secret], password [secret]",
  );
});

test("no part of a secret remains in truncated text", () => {
  const text = `12345${secret}67890`;
  for (let end = 0; end <= text.length; end += 1) {
    const truncated = scrubber.prefix(text, end);
    expect("12345[secret]67890").toContain(truncated);
    expect(truncated).not.toContain("sk");
  }
});

test("a secret of digits is removed where JSON has it as a number", () => {
  expect(scrubberFor(["12345678"]).json({ key: 12345678, others: [1234567, true, null] })).toEqual({
    key: "[secret]",
    others: [1234567, true, null],
  });
});

test("a long text is searched like a short one", () => {
  const long = "sk ".repeat(100_000);
  const text = `${long}${secret}${long}`;
  expect(scrubber.text(text)).toBe(`${long}[secret]${long}`);
  expect(scrubber.prefix(text, long.length + 1)).toBe(`${long}[secret]`);
});

test.each([
  ["backslashes", `${"\\".repeat(3_999)}x`, "\\"],
  ["equal letters", `${"a".repeat(3_999)}b`, "a"],
  ["escapes", `${"%".repeat(3_999)}b`, "%25"],
  ["hex", `${"a".repeat(3_999)}b`, "61"],
])("if secret and text are rows of %s, each match is found in a short time", (_, hostile, part) => {
  const row = part.repeat(256 * 1_024).slice(0, 256 * 1_024);
  const hostileScrubber = scrubberFor([hostile]);
  // A search that compares the secret at each position would need seconds for each text.
  const before = process.threadCpuUsage();
  expect(hostileScrubber.text(row)).toBe(row);
  expect(hostileScrubber.json([row, `x ${hostile}`])).toEqual([row, "x [secret]"]);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(500);
});

test("a secret is found in a mixture of encodings, also if they were applied several times", () => {
  const inUrl = encodeURIComponent(encodeURIComponent(encodeURIComponent(secret)));
  const [first, second] = [secret.slice(0, 9), secret.slice(9)];
  for (const text of [
    inUrl,
    encodeURIComponent(JSON.stringify(secret).slice(1, -1)).replaceAll("%", "&#37;"),
    `${JSON.stringify(first).slice(1, -1)}${encodeURIComponent(second)}`,
  ])
    expect(scrubber.text(`5% ${text} & more`)).toBe("5% [secret] & more");
});

test("a secret is found where it would be an escape together with what is around it", () => {
  const digits = scrubberFor(["ab12&c41x%"]);
  for (const text of ["ab12&c41x%", "ab12%26c41x%25", "ab12\\u0026c41x%"])
    expect(digits.text(`100%${text}41`)).toBe("100%[secret]41");
});

test("a secret of other letters is found, in UTF-8 or escaped", () => {
  const greek = scrubberFor(["κλειδί-é-😀"]);
  for (const text of [
    "κλειδί-é-😀",
    "ΚΛΕΙΔΊ-É-😀",
    encodeURIComponent("κλειδί-é-😀"),
    JSON.stringify("κλειδί-é-😀").replaceAll("é", "\\u00e9"),
    "κλειδί-&#233;-&#x1f600;",
    Buffer.from("κλειδί-é-😀").toString("base64"),
  ])
    expect(greek.text(`ä ${text} ö`)).toMatch(/^ä "?\[secret\]\S{0,3} ö$/);
});

test("twenty secrets of 4,000 characters are removed as usual encoders write them", () => {
  const secrets = Array.from({ length: 20 }, (_, index) =>
    Array.from({ length: 4_000 }, (_, at) =>
      String.fromCharCode(0x21 + ((index * 31 + at * at * 7) % 94)),
    ).join(""),
  );
  const long = scrubberFor(secrets);
  const jwt = `eyJ${"aBc_-9".repeat(650)}.sig`;
  const others = scrubberFor(["-".repeat(4_000), jwt]);
  for (const encode of [
    String,
    (text: string) => text.toUpperCase(),
    JSON.stringify,
    (text: string) => JSON.stringify(JSON.stringify(text)),
    encodeURIComponent,
    (text: string) => Buffer.from(text).toString("hex"),
    ...["", "1", "12"].flatMap((before) =>
      (["base64", "base64url"] as const).map(
        (encoding) => (text: string) => Buffer.from(before + text).toString(encoding),
      ),
    ),
  ]) {
    for (const secret of secrets)
      expect(long.text(`I ${encode(secret)} am`)).toMatch(/^I .{0,5}\[secret\].{0,5} am$/);
    expect(others.text(`I ${encode(jwt)} am`)).toMatch(/^I .{0,5}\[secret\].{0,5} am$/);
  }
  expect(others.text(`I ${"-".repeat(4_000)} am`)).toBe("I [secret] am");
  expect(long.text("Hello, World!")).toBe("Hello, World!");
});

test("without secrets nothing changes", () => {
  expect(scrubberFor([]).text("anything")).toBe("anything");
  expect(scrubberFor([]).prefix("anything", 3)).toBe("any");
});

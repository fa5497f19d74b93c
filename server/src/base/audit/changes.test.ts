import { expect, test } from "vitest";
import { changes } from "./changes.ts";

test("of an object that is too long, only the fields that differ are kept", () => {
  const template = "x".repeat(3_000);
  const settings = (honeypot: string) => ({
    receiving: { template, form: { honeypot, origins: null } },
  });
  expect(changes(settings("website"), settings("address"))).toEqual({
    before: { receiving: { form: { honeypot: "website", origins: null } } },
    after: { receiving: { form: { honeypot: "address", origins: null } } },
  });
});

test("the excerpts of long texts contain the first difference", () => {
  const text = (end: string) => ({ instructions: `${"x".repeat(3_000)}${end}` });
  expect(changes(text("old"), text(`new${"y".repeat(5_000)}`))).toEqual({
    before: { instructions: `… ${"x".repeat(100)}old (3,003 characters)` },
    after: { instructions: `… ${"x".repeat(100)}new${"y".repeat(1_897)} … (8,003 characters)` },
  });
});

test("a difference near the end of a beginning is not cut", () => {
  const text = (limit: number) => ({
    instructions: `${"x".repeat(1_992)}limit: ${limit}${"y".repeat(100)}`,
  });
  const { before, after } = changes(text(100), text(900));
  expect([before.instructions, after.instructions]).toEqual([
    expect.stringContaining("limit: 100yyy"),
    expect.stringContaining("limit: 900yyy"),
  ]);
});

test("a long text in an object is truncated where it is", () => {
  const settings = (letter: string) => ({ receiving: { template: letter.repeat(2_500) } });
  expect(changes(settings("x"), settings("y")).after).toEqual({
    receiving: { template: `${"y".repeat(2_000)} … (2,500 characters)` },
  });
});

test("a field that only one of the objects has is a difference", () => {
  const long = "x".repeat(2_000);
  expect(changes({ metadata: { long } }, { metadata: { long, added: 2 } })).toEqual({
    before: { metadata: {} },
    after: { metadata: { added: 2 } },
  });
});

test("times of the last change and use are no differences of a resource, but of its fields", () => {
  const version = (time: string) => ({
    updated_at: time,
    last_used_at: time,
    metadata: { updated_at: time, long: "x".repeat(2_000) },
  });
  expect(changes(version("yesterday"), version("today"))).toEqual({
    before: { metadata: { updated_at: "yesterday" } },
    after: { metadata: { updated_at: "today" } },
  });
});

import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import {
  hasSecret,
  hereDocument,
  pythonLiteral,
  Secret,
  shellArgument,
  typescriptLiteral,
  withSecrets,
} from "./sample-values.ts";

const hostile = {
  text: `It's "quoted", $HOME, \`id\`, \\ and a\nnew line`,
  empty: {},
  list: [1, true, null, "x".repeat(60)],
  "not-a-name": { nested: { deep: [] } },
};

test("a shell passes any value on unchanged", () => {
  const printed = execFileSync("sh", ["-c", `printf %s ${shellArgument(hostile)}`], {
    encoding: "utf8",
  });
  expect(JSON.parse(printed)).toEqual(hostile);
});

test("a here-document holds any value unchanged, and the secret of the environment", () => {
  const value = { ...hostile, password: new Secret("BECKON_PASSWORD") };
  const printed = execFileSync("sh", ["-c", `cat <<JSON\n${hereDocument(value)}\nJSON`], {
    encoding: "utf8",
    env: { BECKON_PASSWORD: "secret" },
  });
  expect(JSON.parse(printed)).toEqual({ ...hostile, password: "secret" });
});

test("a TypeScript literal is the value", () => {
  expect(new Function(`return ${typescriptLiteral(hostile)}`)()).toEqual(hostile);
  expect(typescriptLiteral({ a: 1, "b-c": new Secret("KEY") })).toBe(
    '{ a: 1, "b-c": process.env.KEY }',
  );
});

test("a Python literal has Python's names", () => {
  expect(pythonLiteral({ a: [true, false, null], b: new Secret("KEY") })).toBe(
    '{"a": [True, False, None], "b": os.environ["KEY"]}',
  );
});

test("a long value has a line for each field", () => {
  expect(typescriptLiteral({ name: "x".repeat(60), list: [1, 2] })).toBe(
    `{\n  name: "${"x".repeat(60)}",\n  list: [1, 2],\n}`,
  );
});

test("secrets of a body are read from the environment", () => {
  const body = withSecrets({ email: "ada@example.com", password: "correct horse" });
  expect(body).toEqual({ email: "ada@example.com", password: new Secret("BECKON_PASSWORD") });
  expect([hasSecret(body), hasSecret({ email: "ada@example.com" })]).toEqual([true, false]);
});

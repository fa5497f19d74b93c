import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { greeting } from "./greeting.ts";

const ready = {
  type: "ready",
  url: "http://127.0.0.1:3000",
  demo: null,
  created: true,
  providers: [],
} as const;
const greet = (setup_token: string | null) =>
  greeting({ ready: { ...ready, setup_token }, bootstrapKeyPath: undefined, postgres: undefined });

test("as long as there is no owner the greeting has a link for the first, with the token after a #", () => {
  expect(greet("bks_abc")).toContain("\n  http://127.0.0.1:3000/setup#token=bks_abc\n");
  expect(greet(null)).not.toContain("setup");
});

test("and a command that does the same, whose body a shell passes on as it is", () => {
  const command = /^ {2}curl (.*)$/m.exec(greet("bks_abc"))?.[1] ?? "";
  const args = execFileSync("sh", ["-c", `printf '%s\\n' ${command}`], { encoding: "utf8" })
    .trim()
    .split("\n");
  expect(args.slice(0, -1)).toEqual([
    "http://127.0.0.1:3000/api/public/setup",
    "-H",
    "Content-Type: application/json",
    "-d",
  ]);
  expect(JSON.parse(args.at(-1) ?? "")).toMatchObject({
    token: "bks_abc",
    email: "you@example.com",
  });
});

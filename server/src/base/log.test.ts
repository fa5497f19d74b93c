import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { captureLog } from "../../test/capture-log.ts";
import { createLog } from "./log.ts";
import { logLines, parseLogLevels } from "./logging/index.ts";

const request = {
  method: "GET",
  route: "/healthz",
  status: 200,
  duration_ms: 1,
  request_id: "rid_1",
  caller: "none",
};

test("a line has its time, level, area, message and declared fields", () => {
  const { log, lines } = captureLog();
  log.write("request", request);
  expect(lines).toEqual([
    { level: "info", time: expect.any(String), area: "http", ...request, msg: "request" },
  ]);
  expect(new Date(lines[0]?.time).toISOString()).toBe(lines[0]?.time);
});

test("fields that the line does not declare are dropped, also if the compiler did not see them", () => {
  const { log, lines } = captureLog();
  const careless = { ...request, body: "hunter2", headers: { cookie: "hunter2" } };
  log.write("request", careless);
  expect(JSON.stringify(lines)).not.toContain("hunter2");
  // @ts-expect-error: the compiler rejects a field that the line does not declare.
  log.write("request", { ...request, body: "hunter2" });
});

test("fields without a value are left out", () => {
  const { log, lines } = captureLog();
  log.write("request", { ...request, status: null, stream: undefined });
  expect(Object.keys(lines[0] ?? {})).not.toContain("status");
  expect(Object.keys(lines[0] ?? {})).not.toContain("stream");
});

test("text is cut to 300 characters, and its control characters are escaped", () => {
  const { log, lines } = captureLog();
  const reason = `\u001b[31mred\u202e\n${"x".repeat(400)}`;
  log.outages.providers.failed("", { workspace_id: "wsp_1", model: "openai/model", reason });
  expect(lines[0]?.reason).toMatch(/^\\u001b\[31mred\\u202e\\u000ax{200,290}…$/);
});

test("each area has its own level", () => {
  const { log, named } = captureLog(
    parseLogLevels("silent,http=info,auth=error") ?? expect.fail("levels"),
  );
  log.write("request", request);
  log.write("queued runs expired", { runs: 1 });
  log.write("credential rejected", {
    kind: "key",
    route: "/",
    address: "::1",
    request_id: "rid_1",
  });
  expect(named("request")).toHaveLength(1);
  expect(named("queued runs expired")).toEqual([]);
  expect(named("credential rejected")).toEqual([]);
  expect([log.writes("request"), log.writes("queued runs expired")]).toEqual([true, false]);
});

test("the pretty format shows a line as text", () => {
  const written: string[] = [];
  const output = { write: (line: string) => void written.push(line) };
  createLog("info", { format: "pretty", output }).write("model server found", {
    provider: "name with spaces",
  });
  expect(written.join("")).toMatch(
    /^[\d:.]{12} info {2}models {5}model server found provider="name with spaces"\n$/,
  );
});

test("warnings are written at once, other lines are buffered", () => {
  let flushes = 0;
  const output = { write: () => {}, flush: () => void flushes++ };
  const log = createLog("info", { output });
  log.write("request", request);
  expect(flushes).toBe(0);
  log.write("queued runs expired", { runs: 1 });
  expect(flushes).toBe(1);
});

test("every line that docs/operate.md lists exists, with this area and level", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/operate.md"), "utf8");
  const rows = [...page.matchAll(/^\| (`\w+`)? ?\| ([^|]+?) \| ([a-z, ]+) \|$/gm)];
  let area = "";
  const listed = rows.flatMap(([, named, text = "", levels = ""]) => {
    area = named?.slice(1, -1) ?? area;
    // A message can contain commas or another message, so the longest are searched first.
    let rest = text.split(": ")[0] ?? "";
    const names = Object.keys(logLines)
      .sort((one, other) => other.length - one.length)
      .filter((name) => {
        const isListed = rest.includes(name);
        rest = rest.replace(name, "");
        return isListed;
      });
    expect(rest).toMatch(/^[, ]*$/);
    return names.map((name) => ({ name, area, levels: levels.split(", ") }));
  });
  expect(listed.length).toBeGreaterThan(15);
  for (const { name, area, levels } of listed) {
    const line = logLines[name as keyof typeof logLines];
    expect([name, line.area]).toEqual([name, area]);
    expect(levels).toContain(line.level);
  }
});

test("no line declares a field for what must not be in a log", () => {
  const texts = Object.values(logLines).flatMap(({ fields }) =>
    Object.entries(fields).flatMap(([name, kind]) => (kind === "number" ? [] : name)),
  );
  expect(texts).toContain("reason");
  expect(
    texts.filter((name) =>
      /url|header|body|input|output|prompt|argument|secret|password/.test(name),
    ),
  ).toEqual([]);
});

/** Runs code in a process of its own, with standard output as a pipe. @returns what it wrote. */
function outputOf(code: string): Promise<{ lines: string[]; exit: number | string | null }> {
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", code], {
    cwd: import.meta.dirname,
    stdio: ["ignore", "pipe", "ignore"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  return new Promise((resolve) =>
    child.on("close", (exit, signal) =>
      resolve({ lines: text.split("\n").slice(0, -1), exit: exit ?? signal }),
    ),
  );
}

test.each([
  ["when nothing is left to do", "", 0],
  ["by process.exit", "process.exit(3)", 3],
  ["by an uncaught error", "throw new Error('x')", 1],
  ["by a rejected promise", "Promise.reject(new Error('x'))", 1],
])("all lines are written before the process exits %s", async (_how, end, exit) => {
  const code = `
    import { createLog } from "${import.meta.dirname}/log.ts";
    const log = createLog("info");
    for (let runs = 0; runs < 5_000; runs++) log.write("runs resumed", { runs });
    ${end}`;
  const written = await outputOf(code);
  expect(written.exit).toBe(exit);
  expect(written.lines.map((line) => JSON.parse(line).runs)).toEqual(
    Array.from({ length: 5_000 }, (_, index) => index),
  );
});

test("while nothing reads the lines, a limited number waits and the rest is dropped", async () => {
  const code = `
    import { createLog } from "${import.meta.dirname}/log.ts";
    import { droppedLogLines } from "${import.meta.dirname}/logging/index.ts";
    const log = createLog("info");
    for (let runs = 0; runs < 200_000; runs++) log.write("runs resumed", { runs });
    process.stderr.write(String(droppedLogLines()));
    process.exitCode = droppedLogLines() > 0 ? 0 : 1;`;
  const { lines, exit } = await outputOf(code);
  expect(exit).toBe(0);
  for (const line of lines) JSON.parse(line);
});

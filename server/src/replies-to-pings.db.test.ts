import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../test/database.ts";
import { eventually } from "../test/eventually.ts";

const { url } = await testDatabase();

test("a server process that is ready replies to the supervisor's pings", async () => {
  const child = fork(fileURLToPath(new URL("./main.ts", import.meta.url)), [], {
    env: {
      ...process.env,
      PORT: "0",
      LOG_LEVEL: "silent",
      DATABASE_URL: url,
      BECKON_MASTER_KEY: randomBytes(32).toString("base64"),
      BECKON_DISCOVER: "0",
    },
    // The flags of the test runner are not for the server.
    execArgv: [],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const types: string[] = [];
  child.on("message", ({ type }: { type: string }) => types.push(type));
  await eventually("ready", () => types.includes("ready") || undefined, 30_000);
  child.send({ type: "ping" });
  await eventually("the reply", () => types.includes("pong") || undefined);
  expect(types.filter((type) => type === "pong")).toHaveLength(1);
});

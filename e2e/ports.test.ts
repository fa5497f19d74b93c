import { join } from "node:path";
import { expect, test } from "vitest";
import {
  freePort,
  launch,
  type Product,
  startProduct,
  stillRunning,
  temporaryFolder,
  until,
} from "./product.ts";

const key = "bootstrap_of_this_install_0123456789abcdef";

function settings(port: number, own: Record<string, string> = {}): Record<string, string> {
  return {
    PORT: String(port),
    BECKON_PROCESSES: "2",
    BECKON_DATA_DIR: join(temporaryFolder(), "data"),
    BECKON_BOOTSTRAP_KEY: key,
    ...own,
  };
}

/** Returns the status codes of 40 concurrent requests, each on its own connection. */
async function statuses(url: string): Promise<number[]> {
  const request = async () =>
    (
      await fetch(`${url}/api/public/agents`, {
        headers: { "x-api-key": key, connection: "close" },
      })
    ).status;
  return Promise.all(Array.from({ length: 40 }, request));
}

const all200 = Array.from({ length: 40 }, () => 200);

test("a second installation on the same port exits with 78 and names the setting", async () => {
  const port = await freePort();
  const first = await startProduct(settings(port));
  const other = settings(port, { BECKON_BOOTSTRAP_KEY: "bootstrap_of_another_install_0123456789" });
  for (const own of [{}, { HOST: "0.0.0.0" }, { BECKON_PROCESSES: "1" }]) {
    const second = launch({ ...other, ...own });
    expect(await second.exited).toBe(78);
    expect(second.output()).toMatch(
      /Beckon \S+ cannot start\..*EADDRINUSE.*set PORT to another port/,
    );
  }
  expect(await statuses(first.url)).toEqual(all200);
});

test("of two installations that start concurrently on one port exactly one gets it", async () => {
  const port = await freePort();
  const both = [launch(settings(port)), launch(settings(port))];
  const ended = (product: Product) => product.exited.then((code) => ({ product, code }));
  const { product: loser, code } = await Promise.race(both.map(ended));
  expect(code).toBe(78);
  const winner = both.find((product) => product !== loser);
  if (winner === undefined) throw new Error("both exited");
  await until("the startup message", () => winner.output().includes(" is ready at "));
  expect(await statuses(winner.url)).toEqual(all200);
});

test("requests wait while all server processes are restarted", async () => {
  const product = await startProduct(settings(0));
  const servers = () =>
    stillRunning(product.descendants(), "no other process").filter((line) =>
      line.includes("/server/src/main.ts"),
    );
  await until("two servers", () => servers().length === 2);
  const killed = servers();
  for (const line of killed) process.kill(Number.parseInt(line, 10), "SIGKILL");
  await until("their end", () => !servers().some((line) => killed.includes(line)));
  expect(await statuses(product.url)).toEqual(all200);
});

import { type HttpToolGrant, httpToolBody } from "@beckon/contract";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { startDnsServer } from "../../test/dns-server.ts";
import { play } from "../../test/engine-run.ts";
import { formatCases, scriptedModel } from "../../test/format-cases.ts";
import { listenOn } from "../../test/listeners.ts";
import { startModelServer } from "../../test/model-server.ts";
import { createEgress, type LeanFetch } from "../base/egress/index.ts";
import { createOpenPinned, type OpenPinned } from "../base/egress/open-pinned.ts";
import { grantedTools } from "./tools/granted-tools.ts";

const publicAddress = "93.184.216.34";
const dns = await startDnsServer();
/** Replaces a server on the internet: the tests have no public address of their own. */
const atPublicAddress = await startModelServer();
const port = Number(new URL(atPublicAddress.url).port);
/**
 * A server at a private address. It has the same port as `atPublicAddress`, so it would receive a
 * request that DNS rebinding diverts to the private address.
 */
const inside = await listenOn(
  "127.0.0.2",
  (_request, response) => response.end("a secret of the inside"),
  port,
);
afterAll(() => Promise.all([dns.close(), atPublicAddress.close(), inside.close()]));
beforeEach(() => atPublicAddress.reset());

/**
 * The addresses to which egress opened connections. `open` replaces only `publicAddress`, by the
 * address of the local server.
 */
const dialled: string[][] = [];
const really = createOpenPinned(2_000);
const open: OpenPinned = (addresses, target, callback) => {
  dialled.push([...addresses]);
  really(
    addresses.map((address) => (address === publicAddress ? "127.0.0.1" : address)),
    target,
    callback,
  );
};

const root = `http://rebinding.test:${port}`;
const grant = httpToolBody.parse({
  type: "http",
  name: "site",
  allowed_hosts: [`rebinding.test:${port}`],
  operations: [{ name: "read", description: "Reads", method: "GET", url: `${root}/v1/models` }],
}) as HttpToolGrant;

async function byTool({ fetch }: LeanFetch): Promise<string> {
  const [read] = grantedTools([grant], { fetch, openSecret: async () => undefined });
  const context = { idempotencyKey: "run_1:call_1", signal: new AbortController().signal };
  return read?.execute({}, context).then(
    (result) => JSON.stringify(result),
    (thrown: Error) => thrown.message,
  ) as Promise<string>;
}

const callers = [
  { caller: "the http tool", call: byTool },
  ...formatCases.map(({ kind, stream }) => ({
    caller: `a provider of kind ${kind}, streamed: ${stream}`,
    call: async (egress: LeanFetch) => {
      const model = scriptedModel(kind, `${root}/v1`, egress);
      const retry = { maxAttempts: 1, baseWaitMs: 1, maxWaitMs: 1 };
      return JSON.stringify((await play(root, { model, settings: { stream }, retry })).outcome);
    },
  })),
];

describe.each(callers)("$caller", ({ call }) => {
  /** Makes a call over a new connection. */
  async function callAnew(): Promise<{
    readonly output: string;
    readonly questions: readonly string[];
    readonly dialled: string[][];
  }> {
    dialled.length = 0;
    const before = dns.questions.length;
    const waits = {
      connectTimeoutMs: 2_000,
      headersTimeoutMs: 5_000,
      bodyTimeoutMs: 5_000,
      totalTimeoutMs: 10_000,
    };
    const egress = createEgress({ ...waits, allow: [] }, { resolve: dns.resolve, open });
    try {
      return {
        output: await call(egress),
        questions: dns.questions.slice(before).sort(),
        dialled: [...dialled],
      };
    } finally {
      await egress.close();
      expect(inside.connections).toBe(0);
    }
  }
  const once = ["A rebinding.test", "AAAA rebinding.test"];
  const reached = {
    output: expect.stringMatching(/scripted|succeeded/),
    questions: once,
    dialled: [[publicAddress]],
  };
  const rejected = {
    output: expect.stringMatching(
      /host is not a public address|is not a public http or https address/,
    ),
    questions: once,
    dialled: [],
  };

  it("reaches only the public address that was checked, and is rejected when the name then resolves to a private one", async () => {
    dns.script([publicAddress], ["127.0.0.2"]);
    expect(await callAnew()).toEqual(reached);
    expect(await callAnew()).toEqual(rejected);
  });

  it("is rejected for a private address, without another DNS query", async () => {
    dns.script(["127.0.0.2"], [publicAddress]);
    expect(await callAnew()).toEqual(rejected);
    expect(await callAnew()).toEqual(reached);
  });

  it.each([
    [[publicAddress, "127.0.0.2"]],
    [["127.0.0.2", publicAddress]],
    [[publicAddress, "::1"]],
    [[publicAddress, "::ffff:7f00:2"]],
    [["2606:2800:220:1::1", "10.0.0.1"]],
  ])(
    "is rejected for the DNS answer %j, which mixes public and private addresses",
    async (addresses) => {
      dns.script(addresses);
      expect(await callAnew()).toEqual(rejected);
    },
  );
});

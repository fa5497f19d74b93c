import { afterEach, describe, expect, it } from "vitest";
import { type Listener, listenOn } from "../../../test/listeners.ts";
import { watchAttempts } from "../../../test/watch-attempts.ts";
import {
  createEgress,
  type Egress,
  EgressDenied,
  type EgressTestHooks,
  type LeanFetch,
} from "./index.ts";
import { createOpenPinned, type OpenPinned } from "./open-pinned.ts";

const publicAddress = "93.184.216.34";
const otherPublicAddress = "2606:2800:220:1::1";
const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

/**
 * Limit of each part of a call. It is too long to be reached, also by the system's resolver on a
 * busy machine, because these tests are not about timeouts.
 */
const timeoutMs = 20_000;

function egressFor(allow: readonly string[], testHooks?: EgressTestHooks): Egress {
  const egress = createEgress(
    {
      connectTimeoutMs: timeoutMs,
      headersTimeoutMs: timeoutMs,
      bodyTimeoutMs: timeoutMs,
      totalTimeoutMs: timeoutMs,
      allow,
    },
    testHooks,
  );
  opened.push({ [Symbol.asyncDispose]: () => egress.close() });
  return egress;
}

async function listening(address = "127.0.0.1", port = 0): Promise<Listener> {
  const listener = await listenOn(
    address,
    ({ url }, response) => {
      if (url === "/redirect")
        response.writeHead(302, { location: String(response.req.headers["x-to"]) });
      if (url === "/last") response.setHeader("connection", "close");
      setTimeout(() => response.end(address), url === "/slow" ? 50 : 0);
    },
    port,
  );
  opened.push({ [Symbol.asyncDispose]: () => listener.close() });
  return listener;
}

/**
 * Returns a resolver that gives these results in turn and then repeats the last. `lookups` has the
 * names that it was called with.
 */
function resolvingTo(...results: readonly (readonly string[])[]) {
  const lookups: string[] = [];
  return {
    lookups,
    resolve: async (name: string) => {
      const result = results[Math.min(lookups.push(name), results.length) - 1];
      if (result === undefined) throw new Error("no result was configured");
      return result;
    },
  };
}

/**
 * Opens a connection to a local listener instead of the given public addresses, and records these
 * addresses.
 */
function insteadOfInternet(listener: Listener) {
  const connected: (readonly string[])[] = [];
  const really = createOpenPinned(timeoutMs);
  const open: OpenPinned = (addresses, target, callback) => {
    connected.push(addresses);
    really([listener.address], { ...target, port: String(listener.port) }, callback);
  };
  return { connected, open };
}

/**
 * Returns the response's text. Waits until the connection can be used again, which is shortly after
 * the body was read.
 */
async function textOf(egress: LeanFetch, url: string): Promise<string> {
  const text = await (await egress.fetch(url)).text();
  await new Promise((resolve) => setImmediate(resolve));
  return text;
}

/** Asserts that the calls are denied without a connection attempt. */
async function expectDenied(egress: LeanFetch, urls: readonly string[]): Promise<void> {
  const { attempts, stop } = watchAttempts();
  for (const url of urls) {
    await expect(egress.fetch(url), url).rejects.toThrow(EgressDenied);
    await expect(egress.call(new URL(url), { method: "GET", headers: {} }), url).rejects.toThrow(
      EgressDenied,
    );
  }
  stop();
  expect(attempts).toEqual({ connections: 0, lookups: 0 });
}

describe("names", () => {
  it.each([
    [["127.0.0.1"]],
    [["::1"]],
    [["10.0.0.1", "10.0.0.2"]],
    [["169.254.169.254"]],
    [["::ffff:93.184.216.34"]],
    [["64:ff9b::5db8:d822"]],
    [["fe80::1%eth0"]],
    [["not an address"]],
    [[publicAddress, "127.0.0.1"]],
    [["127.0.0.1", publicAddress]],
    [[publicAddress, otherPublicAddress, "::1"]],
    [[otherPublicAddress, "10.0.0.1"]],
  ])("one that resolves to %j is denied before any connection", async (result) => {
    const listener = await listening();
    const { connected, open } = insteadOfInternet(listener);
    const egress = egressFor([], { ...resolvingTo(result), open });
    await expectDenied(egress, [
      `http://tool.test:${listener.port}/`,
      `https://tool.test:${listener.port}/`,
    ]);
    expect(connected).toEqual([]);
    expect(listener.connections).toBe(0);
  });

  it("one that resolves to public addresses is connected to these, with its own name", async () => {
    const listener = await listening();
    const { connected, open } = insteadOfInternet(listener);
    const egress = egressFor([], { ...resolvingTo([publicAddress, otherPublicAddress]), open });
    expect(await textOf(egress, "http://Tool.test/")).toBe("127.0.0.1");
    expect(connected).toEqual([[publicAddress, otherPublicAddress]]);
    expect(listener.hosts).toEqual(["tool.test"]);
  });

  it("one without addresses, or unknown to the resolver, is a transport error", async () => {
    await expect(egressFor([], resolvingTo([])).fetch("http://tool.test/")).rejects.toMatchObject({
      code: "ENOTFOUND",
    });
    await expect(egressFor([]).fetch("http://tool.invalid/")).rejects.toMatchObject({
      code: expect.stringMatching(/^(ENOTFOUND|EAI_AGAIN)$/),
    });
  });

  it("the system's resolver returns the addresses of both families", async () => {
    const listener = await listening();
    expect(
      await textOf(egressFor([`localhost:${listener.port}`]), `http://localhost:${listener.port}/`),
    ).toBe("127.0.0.1");
    await expect(egressFor([]).fetch(`http://localhost:${listener.port}/`)).rejects.toThrow(
      EgressDenied,
    );
    expect(listener.connections).toBe(1);
  });
});

describe("names that change", () => {
  it("between check and connect: the checked address is used, without another lookup", async () => {
    const first = await listening("127.0.0.1");
    const second = await listening("127.0.0.2", first.port);
    const { lookups, resolve } = resolvingTo(["127.0.0.1"], ["127.0.0.2"]);
    const { attempts, stop } = watchAttempts();
    expect(
      await textOf(
        egressFor([`tool.test:${first.port}`], { resolve }),
        `http://tool.test:${first.port}/`,
      ),
    ).toBe("127.0.0.1");
    stop();
    expect(lookups).toEqual(["tool.test"]);
    expect(attempts).toEqual({ connections: 1, lookups: 0 });
    expect([first.connections, second.connections]).toEqual([1, 0]);
  });

  it("from public to private: an open connection stays in use, and no new one is opened", async () => {
    const listener = await listening();
    const { connected, open } = insteadOfInternet(listener);
    const { lookups, resolve } = resolvingTo([publicAddress], ["127.0.0.1"]);
    const egress = egressFor([], { resolve, open });
    const url = `http://tool.test:${listener.port}`;
    for (let n = 0; n < 5; n += 1) expect(await textOf(egress, `${url}/`)).toBe("127.0.0.1");
    expect(lookups).toHaveLength(1);

    const slow = textOf(egress, `${url}/slow`);
    await expect(egress.fetch(`${url}/beside`)).rejects.toThrow(EgressDenied);
    expect(await slow).toBe("127.0.0.1");

    expect(await textOf(egress, `${url}/last`)).toBe("127.0.0.1");
    await expect(egress.fetch(`${url}/`)).rejects.toThrow(EgressDenied);
    expect(connected).toEqual([[publicAddress]]);
    expect(listener.connections).toBe(1);
  });

  it("from one public address to another: a new connection goes to the new one", async () => {
    const { connected, open } = insteadOfInternet(await listening());
    const egress = egressFor([], { ...resolvingTo([publicAddress], [otherPublicAddress]), open });
    await textOf(egress, "http://tool.test/last");
    await textOf(egress, "http://tool.test/");
    expect(connected).toEqual([[publicAddress], [otherPublicAddress]]);
  });

  it("an open connection is used for no other name, port or scheme", async () => {
    const listener = await listening();
    const { connected, open } = insteadOfInternet(listener);
    const resolve = async (name: string) => [name === "tool.test" ? publicAddress : "127.0.0.1"];
    const egress = egressFor([], { resolve, open });
    await textOf(egress, "http://tool.test/");
    await expectDenied(egress, [
      "http://other.test/",
      "http://tool.test./",
      "https://other.test/",
      "http://other.test:8080/",
    ]);
    await textOf(egress, "http://tool.test:8080/");
    expect(connected).toHaveLength(2);
  });

  it("concurrent connections to one name share one lookup", async () => {
    const { connected, open } = insteadOfInternet(await listening());
    const { lookups, resolve } = resolvingTo([publicAddress]);
    const egress = egressFor([], { resolve, open });
    await Promise.all(Array.from({ length: 10 }, () => textOf(egress, "http://tool.test/slow")));
    expect(connected).toHaveLength(10);
    expect(lookups).toHaveLength(1);
  });

  it("if an address does not respond the next checked one is tried", async () => {
    const listener = await listening();
    const egress = egressFor(
      [`tool.test:${listener.port}`],
      resolvingTo(["127.0.0.9", "127.0.0.1"]),
    );
    const { attempts, stop } = watchAttempts();
    expect(await textOf(egress, `http://tool.test:${listener.port}/`)).toBe("127.0.0.1");
    stop();
    expect(attempts).toEqual({ connections: 2, lookups: 0 });
  });
});

describe("URLs", () => {
  it("a redirect is returned unchanged, whatever its target", async () => {
    const inside = await listening("127.0.0.2");
    const listener = await listening();
    const egress = egressFor([], {
      ...resolvingTo([publicAddress]),
      open: insteadOfInternet(listener).open,
    });
    for (const to of [
      `http://127.0.0.2:${inside.port}/`,
      `http://tool.test:${inside.port}/`,
      "file:///etc/passwd",
      "/elsewhere",
    ]) {
      const response = await egress.fetch("http://tool.test/redirect", {
        headers: { "x-to": to },
        redirect: "follow",
      });
      expect(response).toMatchObject({ status: 302, redirected: false });
      expect(response.headers.get("location")).toBe(to);
      await response.text();
    }
    expect(inside.connections).toBe(0);
    expect(listener.hosts).toHaveLength(4);
  });

  it("schemes other than http and https are denied, also for exceptions", async () => {
    const { port } = await listening();
    const schemes = [
      "ftp",
      "gopher",
      "ws",
      "wss",
      "dict",
      "ldap",
      "unix",
      "http+unix",
      "httpx",
      "node",
    ];
    await expectDenied(egressFor([`127.0.0.1:${port}`]), [
      ...schemes.map((scheme) => `${scheme}://127.0.0.1:${port}/`),
      ...[
        "file:///etc/passwd",
        "data:,x",
        "blob:http://127.0.0.1/x",
        "javascript:1",
        "about:blank",
        "unix:/run/docker.sock",
      ],
    ]);
  });

  it("a user name or password is denied and not repeated in the error", async () => {
    const { port } = await listening();
    const egress = egressFor([`127.0.0.1:${port}`]);
    const at = `127.0.0.1:${port}/`;
    await expectDenied(egress, [
      `http://tom@${at}`,
      `http://tom:hunter2@${at}`,
      `http://:hunter2@${at}`,
      `http://8.8.8.8%40@${at}`,
      `http:tom@${at}`,
    ]);
    await expect(egress.fetch(`http://tom:hunter2@${at}`)).rejects.toThrow(
      /^(?!.*(tom|hunter2)).*header/,
    );
    const after = ["http://@", "http://:@"].map((start) => textOf(egress, `${start}${at}`));
    expect(await Promise.all(after)).toEqual(["127.0.0.1", "127.0.0.1"]);
  });

  it("ports of other protocols are denied on public hosts, and other ports are not", async () => {
    const { connected, open } = insteadOfInternet(await listening());
    const egress = egressFor([], { ...resolvingTo([publicAddress]), open });
    const denied = [0, 1, 22, 25, 53, 110, 143, 389, 465, 587, 636, 2049, 5060, 6000, 6667, 10080];
    await expectDenied(
      egress,
      denied.flatMap((port) => [`http://tool.test:${port}/`, `https://${publicAddress}:${port}/`]),
    );
    expect(connected).toEqual([]);
    for (const port of [80, 81, 443, 8080, 8443, 9200, 65_535])
      await textOf(egress, `http://tool.test:${port}/`);
    expect(connected).toHaveLength(7);
  });

  it("the header Host cannot be set, in any form of headers", async () => {
    const { port } = await listening();
    const egress = egressFor([`127.0.0.1:${port}`]);
    for (const headers of [
      { Host: "inside" },
      { hOST: "inside" },
      new Headers({ host: "inside" }),
      [["HOST", "inside"]] as [string, string][],
    ]) {
      await expect(egress.fetch(`http://127.0.0.1:${port}/`, { headers })).rejects.toThrow(
        EgressDenied,
      );
    }
    const url = new URL(`http://127.0.0.1:${port}/`);
    for (const headers of [{ Host: "inside" }, { hOST: "inside" }]) {
      await expect(egress.call(url, { method: "GET", headers })).rejects.toThrow(EgressDenied);
    }
    await expect(
      egress.fetch(`http://127.0.0.1:${port}/`, { method: "CONNECT" }),
    ).rejects.toThrow();
  });

  it("a URL object is checked at every call", async () => {
    const { port } = await listening();
    const { connected, open } = insteadOfInternet(await listening());
    const egress = egressFor([], { ...resolvingTo([publicAddress]), open });
    const url = new URL("http://tool.test/");
    const call = { method: "GET", headers: {} };
    expect((await egress.call(url, call)).text).toBe("127.0.0.1");
    url.host = `127.0.0.1:${port}`;
    await expect(egress.call(url, call)).rejects.toThrow(EgressDenied);
    url.href = "http://tom@tool.test/";
    await expect(egress.call(url, call)).rejects.toThrow(EgressDenied);
    expect(connected).toEqual([[publicAddress]]);
  });

  it("arguments that the lean fetch rejects are rejected here", async () => {
    await expect(egressFor([]).fetch(new Request("http://127.0.0.1/"))).rejects.toThrow(TypeError);
  });
});

describe("the missing exception of a URL", () => {
  it.each([
    ["http://tool.test/", ["10.0.0.1"], "tool.test:80"],
    ["https://tool.test/", [publicAddress, "::1"], "tool.test:443"],
    ["http://tool.test:8080/", ["10.0.0.1"], undefined],
    ["http://tool.test/", [publicAddress], undefined],
    ["http://tool.test/", [], undefined],
    ["http://127.1:11434/v1", [], "127.0.0.1:11434"],
    ["http://[::1]:11434/v1", [], "[::1]:11434"],
    ["http://8.8.8.8/", [], undefined],
  ])("%s at %j is %s, and nothing is connected", async (url, addresses, expected) => {
    const { connected, open } = insteadOfInternet(await listening());
    const egress = egressFor(["tool.test:8080"], { resolve: async () => addresses, open });
    expect(await egress.missingException(new URL(url), "wsp_1")).toBe(expected);
    expect(connected).toEqual([]);
  });
});

describe("exceptions", () => {
  it("a name allows only that name with that port", async () => {
    const listener = await listening();
    const other = await listening();
    const { port } = listener;
    const egress = egressFor([`tool.test:${port}`], { resolve: async () => ["127.0.0.1"] });
    expect(await textOf(egress, `http://tool.test:${port}/`)).toBe("127.0.0.1");
    expect(await textOf(egress, `http://TOOL%2Etest:${port}/`)).toBe("127.0.0.1");
    await expectDenied(egress, [
      ...[
        "tool.test.",
        "sub.tool.test",
        "test",
        "tool",
        "tool.test.evil.test",
        "127.0.0.1",
        "[::ffff:127.0.0.1]",
        "localhost",
      ].map((host) => `http://${host}:${port}/`),
      ...[`http://tool.test:${other.port}/`, "http://tool.test/", "https://tool.test/"],
    ]);
    expect([listener.connections, other.connections]).toEqual([1, 0]);
  });

  it("an address allows only that address with that port, in every notation", async () => {
    const { port } = await listening();
    const other = await listening();
    const neighbour = await listening("127.0.0.2", port);
    const egress = egressFor([`127.0.0.1:${port}`], { resolve: async () => ["127.0.0.1"] });
    for (const host of [
      "127.0.0.1",
      "127.0.0.1.",
      "127.1",
      "2130706433",
      "0x7f.0.0.1",
      "１２７。0。0。1",
    ]) {
      expect(await textOf(egress, `http://${host}:${port}/`)).toBe("127.0.0.1");
    }
    await expectDenied(egress, [
      ...[
        "127.0.0.2",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "localhost",
        "tool.test",
      ].map((host) => `http://${host}:${port}/`),
      `http://127.0.0.1:${other.port}/`,
      "http://127.0.0.1/",
    ]);
    expect([other.connections, neighbour.connections]).toEqual([0, 0]);
  });

  it("an IPv6 address allows that address with that port in every notation", async () => {
    const { port } = await listening("::1");
    const egress = egressFor([`[::1]:${port}`]);
    for (const host of ["[::1]", "[0:0::1]", "[::0.0.0.1]"])
      expect(await textOf(egress, `http://${host}:${port}/`)).toBe("::1");
    await expectDenied(egress, [
      `http://[::]:${port}/`,
      `http://127.0.0.1:${port}/`,
      "http://[::1]/",
    ]);
  });

  it("the default port counts as given, and a port of another protocol can be allowed", async () => {
    const { connected, open } = insteadOfInternet(await listening());
    const egress = egressFor(["tool.test:80", "10.0.0.5:6000"], {
      resolve: async () => ["10.0.0.5"],
      open,
    });
    await textOf(egress, "http://tool.test/");
    await textOf(egress, "http://10.0.0.5:6000/");
    await expectDenied(egress, [
      "https://tool.test/",
      "http://tool.test:6000/",
      "http://10.0.0.5:6001/",
    ]);
    expect(connected).toHaveLength(2);
  });
});

it("the error is the same for an open and a closed port", async () => {
  const { port } = await listening();
  const gone = await listening();
  await gone.close();
  const egress = egressFor([]);
  const outcomes = [port, gone.port].map((each) =>
    egress.fetch(`http://127.0.0.1:${each}/`).then(
      () => "responded",
      (error: EgressDenied) => ({
        name: error.name,
        code: error.code,
        message: error.message.replaceAll(String(each), "PORT"),
      }),
    ),
  );
  const [open, closed] = await Promise.all(outcomes);
  expect(open).toMatchObject({ name: "EgressDenied" });
  expect(open).toEqual(closed);
  await expectDenied(egress, [`http://127.0.0.1:${port}/`, `http://127.0.0.1:${gone.port}/`]);
});

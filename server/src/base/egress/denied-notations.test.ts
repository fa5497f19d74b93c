import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { watchAttempts } from "../../../test/watch-attempts.ts";
import { createEgress, createLeanFetch, EgressDenied } from "./index.ts";

type Octets = readonly [number, number, number, number];

const number = ([a, b, c, d]: Octets) => ((a * 256 + b) * 256 + c) * 256 + d;
const octal = (value: number) => `0${value.toString(8)}`;
const hex = (value: number) => `0x${value.toString(16)}`;
const dotted = (octets: Octets) => octets.join(".");
const groups = ([a, b, c, d]: Octets) =>
  `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
const fullWidth = (text: string) =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));

/** Notations that the URL standard parses as the same IPv4 address. */
const spellingsOfFour: Readonly<Record<string, (octets: Octets) => string>> = {
  plain: dotted,
  "trailing dot": (octets) => `${dotted(octets)}.`,
  "one number": (octets) => String(number(octets)),
  "one number, octal": (octets) => octal(number(octets)),
  "one number, hex": (octets) => hex(number(octets)),
  "one number, hex in capitals": (octets) => `0X${number(octets).toString(16).toUpperCase()}`,
  "one number, zeros in front": (octets) => `0x0000000${number(octets).toString(16)}`,
  "two numbers": ([a, b, c, d]) => `${a}.${(b * 256 + c) * 256 + d}`,
  "two numbers, hex": ([a, b, c, d]) => `${hex(a)}.${hex((b * 256 + c) * 256 + d)}`,
  "three numbers": ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
  octal: (octets) => octets.map(octal).join("."),
  "octal, zeros in front": (octets) => octets.map((octet) => `00000${octal(octet)}`).join("."),
  hex: (octets) => octets.map(hex).join("."),
  mixed: ([a, b, c, d]) => `${hex(a)}.${octal(b)}.${c}.${hex(d)}`,
  "percent-encoded": (octets) => dotted(octets).replace(/\d/g, (digit) => `%3${digit}`),
  "percent-encoded dots": (octets) => octets.join("%2E"),
  "full-width digits": (octets) => fullWidth(dotted(octets)),
  "ideographic dots": (octets) => octets.join("。"),
  "full-width dots": (octets) => octets.join("．"),
  "half-width dots, trailing": (octets) => `${octets.join("｡")}｡`,
  "soft hyphen": (octets) => `${dotted(octets)}\u00ad`,
  "tab inside": (octets) => octets.join("\t."),
};

/** IPv6 addresses that embed an IPv4 address. */
const spellingsOfSix: Readonly<Record<string, (octets: Octets) => string>> = {
  mapped: (octets) => `[::ffff:${dotted(octets)}]`,
  "mapped, in groups": (octets) => `[::FFFF:${groups(octets)}]`,
  "mapped, in full": (octets) => `[0000:0000:0000:0000:0000:ffff:${groups(octets)}]`,
  compatible: (octets) => `[::${dotted(octets)}]`,
  translated: (octets) => `[::ffff:0:${dotted(octets)}]`,
  NAT64: (octets) => `[64:ff9b::${dotted(octets)}]`,
  "NAT64 of one network": (octets) => `[64:ff9b:1::${dotted(octets)}]`,
  "6to4": (octets) => `[2002:${groups(octets)}::1]`,
  "Teredo server": (octets) => `[2001:0:${groups(octets)}::1]`,
  ISATAP: (octets) => `[2a00::5efe:${dotted(octets)}]`,
  "ISATAP, unique": (octets) => `[2a00::200:5efe:${groups(octets)}]`,
};

const addresses: Readonly<Record<string, Octets>> = {
  loopback: [127, 0, 0, 1],
  "other loopback": [127, 127, 127, 127],
  unspecified: [0, 0, 0, 0],
  "cloud metadata": [169, 254, 169, 254],
  "private 10": [10, 0, 0, 1],
  "private 172": [172, 16, 254, 1],
  "private 192": [192, 168, 1, 1],
  "carrier-grade NAT": [100, 100, 100, 200],
  "protocol assignments": [192, 0, 0, 192],
  benchmarking: [198, 18, 0, 1],
  documentation: [203, 0, 113, 1],
  multicast: [239, 255, 255, 250],
  reserved: [240, 0, 0, 1],
  broadcast: [255, 255, 255, 255],
};

const fours = Object.entries(addresses).flatMap(([what, octets]) =>
  Object.entries(spellingsOfFour).map(([how, spell]) => ({
    what,
    how,
    host: spell(octets),
    plain: dotted(octets),
  })),
);
const sixes = Object.entries(addresses).flatMap(([what, octets]) =>
  Object.entries(spellingsOfSix).map(([how, spell]) => ({ what, how, host: spell(octets) })),
);
const native = [
  ...[
    "::1",
    "0:0:0:0:0:0:0:1",
    "::0001",
    "::",
    "0::0",
    "100::1",
    "fc00::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fe80::1",
    "febf::1",
  ],
  ...[
    "fec0::1",
    "feff::1",
    "ff02::1",
    "ff0e::1",
    "2001:db8::1",
    "3fff::1",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "5f00::1",
    "4000::1",
  ],
].map((address) => `[${address}]`);
const names = [
  "localhost",
  "LOCALHOST",
  "localhost.",
  "ｌｏｃａｌｈｏｓｔ",
  "loc%61lhost",
  "local\u00adhost",
  "lo\ncalhost",
  "a.localhost",
];
const unreadable = [
  ...[
    "[fe80::1%eth0]",
    "[fe80::1%25eth0]",
    "[::1%lo]",
    "[::1]]",
    "[::ffff:127.0.0.256]",
    "[::ffff:0x7f.0.0.1]",
    "[1::2::3]",
    "[127.0.0.1]",
  ],
  ...[
    "256.0.0.1",
    "127.0.0.1.1",
    "0x100000000",
    "4294967296",
    "127.0.0.0x100",
    "1.2.3.08",
    "127..1",
    "a b",
    "a<b",
    "%00localhost",
    "127.0.0.1%00",
  ],
];

const egress = createEgress(
  {
    connectTimeoutMs: 1_000,
    headersTimeoutMs: 1_000,
    bodyTimeoutMs: 1_000,
    totalTimeoutMs: 2_000,
    allow: [],
  },
  // Browsers resolve `a.localhost` to loopback, but not every system's resolver does. This resolver
  // does so on every system.
  {
    resolve: async (name) =>
      /^(a\.)?localhost\.?$/.test(name) ? ["127.0.0.1", "::1"] : ["8.8.8.8"],
  },
);
const lean = createLeanFetch({
  connectTimeoutMs: 1_000,
  headersTimeoutMs: 1_000,
  bodyTimeoutMs: 1_000,
});
const { attempts, stop } = watchAttempts();
let server: Server;
let port: number;
let requests = 0;

beforeAll(async () => {
  server = createServer((_request, response) => {
    requests += 1;
    response.end("inside");
  });
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "::" }, resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  stop();
  await Promise.all([egress.close(), lean.close()]);
  server.closeAllConnections();
  server.close();
});

async function expectNoCall(
  url: string,
  error: object | (new (...of: never[]) => Error),
): Promise<void> {
  const before = { ...attempts, requests };
  const calls: Promise<unknown>[] = [egress.fetch(url)];
  if (URL.canParse(url)) calls.push(egress.call(new URL(url), { method: "GET", headers: {} }));
  for (const call of calls) {
    if (typeof error === "function") await expect(call).rejects.toThrow(error as new () => Error);
    else await expect(call).rejects.toMatchObject(error);
  }
  expect({ ...attempts, requests }).toEqual(before);
}

describe("addresses that are not public, in every notation", () => {
  it("is a table of more than 200", () => {
    expect(
      new Set([...fours, ...sixes].map(({ host }) => host)).size + native.length + names.length,
    ).toBeGreaterThan(400);
  });

  it.each(fours)("denies $what, $how: $host", async ({ host, plain }) => {
    expect(new URL(`http://${host}/`).hostname).toBe(plain);
    for (const scheme of ["http", "https"]) {
      await expectNoCall(`${scheme}://${host}:${port}/`, {
        code: "BECKON_EGRESS_DENIED",
        message: `${plain}:${port} was not called: its host is not a public address. The operator of this server can open it with BECKON_EGRESS_ALLOW=${plain}:${port}.`,
      });
    }
  });

  it.each(sixes)("denies $what, $how: $host", ({ host }) =>
    expectNoCall(`http://${host}:${port}/`, EgressDenied),
  );
  it.each(native)("denies %s", (host) => expectNoCall(`http://${host}:${port}/`, EgressDenied));
  it.each(names)("denies the name %j", (host) =>
    expectNoCall(`http://${host}:${port}/`, EgressDenied),
  );
  it.each(unreadable)("does not parse %j as a host", (host) =>
    expectNoCall(`http://${host}:${port}/`, TypeError),
  );

  it.each([
    ...fours.filter(({ what }) => what === "loopback"),
    ...fours.filter(({ what }) => what === "unspecified"),
  ])(
    "can be reached without egress, so that the tests above prove something: $host",
    async ({ host }) => {
      expect(await (await lean.fetch(`http://${host}:${port}/`)).text()).toBe("inside");
    },
  );
});

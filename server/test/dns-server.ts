import { createSocket } from "node:dgram";
import { Resolver } from "node:dns/promises";
import { isIPv6 } from "node:net";
import type { EgressTestHooks } from "../src/base/egress/index.ts";

/** A DNS server over UDP on a free port of 127.0.0.1 (RFC 1035). */
export interface DnsServer {
  /**
   * Scripts the answers. The first query of a type (A or AAAA) gets the addresses of this type in
   * the first list, the next query those in the next list. When all lists are used, every further
   * query gets the last one.
   */
  script(...answers: readonly (readonly string[])[]): void;
  /** Queries since the script was set, for example `A tool.test`. */
  readonly questions: readonly string[];
  /** Resolves both address families through this server, without a cache. */
  readonly resolve: NonNullable<EgressTestHooks["resolve"]>;
  close(): Promise<void>;
}

const types: Readonly<Record<number, "A" | "AAAA">> = { 1: "A", 28: "AAAA" };

export async function startDnsServer(): Promise<DnsServer> {
  let scripted: readonly (readonly string[])[] = [];
  const questions: string[] = [];
  const socket = createSocket("udp4", (query, { address, port }) => {
    const { name, end } = readName(query);
    const type = types[query.readUInt16BE(end)] ?? "A";
    const asked = questions.filter((question) => question.startsWith(`${type} `)).length;
    questions.push(`${type} ${name}`);
    const addresses = scripted[Math.min(asked, scripted.length - 1)] ?? [];
    const ofType = addresses.filter((each) => isIPv6(each) === (type === "AAAA"));
    socket.send(reply(query, end + 4, ofType), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const server = `127.0.0.1:${socket.address().port}`;

  return {
    script(...answers) {
      scripted = answers;
      questions.length = 0;
    },
    questions,
    async resolve(hostname) {
      const resolver = new Resolver({ timeout: 2_000, tries: 1 });
      resolver.setServers([server]);
      const none = (thrown: NodeJS.ErrnoException): string[] => {
        if (thrown.code === "ENODATA") return [];
        throw thrown;
      };
      return (
        await Promise.all([
          resolver.resolve4(hostname).catch(none),
          resolver.resolve6(hostname).catch(none),
        ])
      ).flat();
    },
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

/** Returns the name in the query's only question, and the offset of the first byte after it. */
function readName(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join("."), end: at + 1 };
}

/** Returns a response with the question and a record with TTL 0 for each address. */
function reply(query: Buffer, endOfQuestion: number, addresses: readonly string[]): Buffer {
  const message = Buffer.from(query.subarray(0, endOfQuestion));
  message.writeUInt16BE(0x8580, 2);
  message.writeUInt16BE(addresses.length, 6);
  message.fill(0, 8, 12);
  return Buffer.concat([message, ...addresses.map(record)]);
}

function record(address: string): Buffer {
  const bytes = isIPv6(address)
    ? bytesOfIPv6(address)
    : Buffer.from(address.split(".").map(Number));
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(isIPv6(address) ? 28 : 1, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, bytes]);
}

function bytesOfIPv6(address: string): Buffer {
  const [head = "", tail = ""] = address.split("::");
  const [before, after] = [head, tail].map((part) => (part === "" ? [] : part.split(":")));
  const groups = [
    ...(before ?? []),
    ...Array(8 - (before?.length ?? 0) - (after?.length ?? 0)).fill("0"),
    ...(after ?? []),
  ];
  return Buffer.from(groups.map((group: string) => group.padStart(4, "0")).join(""), "hex");
}
